// Helpers of the dashboard tests. LINK is the link that signs the owner in, EMAIL and PASSWORD belong to a
// user, KEY is an API key of the account.
import { check, pageTimeout } from './browser.mjs'

export const base = new URL(process.env.LINK).origin

// signIn signs a user in without the sign-in page, which people.mjs tests.
export async function signIn(context, email = process.env.EMAIL, password = process.env.PASSWORD) {
  const answer = await context.request.post(base + '/api/session', { data: { email, password }, headers: { Origin: base } })
  check(answer.ok(), `${email} signs in: ${answer.status()} ${await answer.text()}`)
}

// api calls a REST operation with the key, and returns the response body.
export async function api(method, path, body) {
  const answer = await fetch(`${base}/api${path}`, {
    method, headers: { Authorization: `Bearer ${process.env.KEY}`, 'Content-Type': 'application/json' }, body: body && JSON.stringify(body),
  })
  const text = await answer.text()
  check(answer.ok, `the API does ${method} ${path}: ${answer.status} ${text}`)
  return text ? JSON.parse(text) : undefined
}

export const send = async fields => (await api('POST', '/emails', { from: 'ada@dev.test', to: 'bob@example.net', subject: 'Hello', text: 'Hello', ...fields })).id

// until polls for a value and returns it.
export async function until(what, ask) {
  const end = Date.now() + pageTimeout
  for (;;) {
    const got = await ask()
    if (got) return got
    check(Date.now() < end, `${what} in time`)
    await new Promise(r => setTimeout(r, 50))
  }
}

export const menuOf = page => page.getByRole('navigation', { name: 'Main' }).getByRole('link')
export const pathsOf = page => menuOf(page).evaluateAll(links => links.map(a => new URL(a.href).pathname))

// seen is a visible text: narrow pages contain texts that wide ones hide.
export const seen = (page, text) => page.getByText(text).filter({ visible: true })

// showNew waits for a row of a live list. New rows are announced first, unless a refresh of the list shows them.
export async function showNew(page, row) {
  const news = page.getByRole('button', { name: /^Show \d+ new$/ })
  while (!await row.isVisible()) {
    await row.or(news).first().waitFor()
    if (await news.isVisible()) await news.click({ timeout: 2000 }).catch(() => {})
  }
}

// settled waits until nothing is loading. The event stream stays open, so the network is never idle.
export const settled = page => page.waitForFunction(() => document.querySelector('main h1') && !document.querySelector('[aria-busy=true], .skeleton'))

// visit loads a screen as on a first visit, and waits for it.
export async function visit(page, path) {
  await page.goto(base + path)
  await settled(page)
}
