// What the tests of the dashboard share. LINK is the link that signs the owner in, EMAIL and PASSWORD are
// somebody's, KEY is a key of the account.
import { check, patience } from './browser.mjs'

export const base = new URL(process.env.LINK).origin

// signIn lets somebody in without the page for it, which people.mjs looks at.
export async function signIn(context, email = process.env.EMAIL, password = process.env.PASSWORD) {
  const answer = await context.request.post(base + '/api/session', { data: { email, password }, headers: { Origin: base } })
  check(answer.ok(), `${email} signs in: ${answer.status()} ${await answer.text()}`)
}

// api asks REST with the key, and gives the answer's body.
export async function api(method, path, body) {
  const answer = await fetch(`${base}/api${path}`, {
    method, headers: { Authorization: `Bearer ${process.env.KEY}`, 'Content-Type': 'application/json' }, body: body && JSON.stringify(body),
  })
  const text = await answer.text()
  check(answer.ok, `the API does ${method} ${path}: ${answer.status} ${text}`)
  return text ? JSON.parse(text) : undefined
}

export const send = async fields => (await api('POST', '/emails', { from: 'ada@dev.test', to: 'bob@example.net', subject: 'Hello', text: 'Hello', ...fields })).id

// until waits for something that is asked again and again, and gives it.
export async function until(what, ask) {
  const end = Date.now() + patience
  for (;;) {
    const got = await ask()
    if (got) return got
    check(Date.now() < end, `${what} in time`)
    await new Promise(r => setTimeout(r, 50))
  }
}

export const menuOf = page => page.getByRole('navigation', { name: 'Main' }).getByRole('link')
export const pathsOf = page => menuOf(page).evaluateAll(links => links.map(a => new URL(a.href).pathname))

// seen is a text where it shows: narrow pages have texts that wide ones hide.
export const seen = (page, text) => page.getByText(text).filter({ visible: true })

// settled waits until nothing loads. The stream of events is open always, so the network is never idle.
export const settled = page => page.waitForFunction(() => document.querySelector('main h1') && !document.querySelector('[aria-busy=true], .skeleton'))

// visit goes to a screen as a stranger to it does, and waits for it.
export async function visit(page, path) {
  await page.goto(base + path)
  await settled(page)
}
