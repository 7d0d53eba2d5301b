// When the service becomes unavailable, the page reports it, recovers automatically and misses nothing. When the
// session ends during input, the input is still there after signing in again. When the browser's clock is wrong
// by a day, times still use the clock of the service.
import { check, nothing, open, watch } from './browser.mjs'
import { api, base, seen, showNew, send, signIn } from './dashboard.mjs'
import { line } from './connection.mjs'

const { port, cut, mend } = await line(base)
let cutOff = false
const { browser, context, page } = await open({ hosts: `* 127.0.0.1:${port}`, viewport: { width: 1440, height: 900 } })
const wrong = watch(context, base, text => cutOff || text.includes('401'))
await signIn(context)
const live = () => page.getByText('Live', { exact: true }).waitFor()
const at = async path => {
  await page.goto(base + path)
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await live()
}

// 1. An outage with new mail, which the event stream has not reported before.
await at('/emails')
cutOff = true
await cut()
await page.getByText('Connection lost').waitFor()
const subjects = ['One while away', 'Two while away'].map(s => `${s} ${Date.now()}`)
for (const subject of subjects) await send({ subject })
await mend()
await page.getByText('Connection lost').waitFor({ state: 'detached' })
await live()
for (const subject of subjects) await showNew(page, seen(page, subject).first())
cutOff = false
const later = `Afterwards ${Date.now()}`
await send({ subject: later })
await showNew(page, seen(page, later).first())

// 2. The session ends while a template is edited, and while a form is open. Reads detect it first.
const { template } = await api('POST', '/templates', { name: 'Half written', subject: 'Draft', html: '<p>Hello</p>' })
await at(`/templates/${template.id}`)
await page.getByLabel('Subject').fill('Typed before the session ended')
await context.request.delete(base + '/api/session', { headers: { Origin: base } })
await page.getByRole('tab', { name: /Versions/ }).click() // makes a read request
const ended = page.getByRole('dialog', { name: 'Your session has ended' })
await ended.waitFor()
await ended.getByRole('button', { name: 'Continue' }).click()
await ended.getByText('You haven’t signed in yet.').waitFor()
const [signInPage] = await Promise.all([context.waitForEvent('page'), ended.getByRole('link').click()])
await signInPage.getByLabel('Email').fill(process.env.EMAIL)
await signInPage.getByLabel('Password').fill(process.env.PASSWORD)
await signInPage.getByRole('button', { name: 'Sign in', exact: true }).click()
await signInPage.waitForURL(base + '/')
await signInPage.close()
await page.bringToFront()
while (await ended.isVisible()) await ended.getByRole('button', { name: 'Continue' }).click({ timeout: 2000 }).catch(() => {}) // it continues automatically when the window gets the focus
await ended.waitFor({ state: 'detached' })
check(await page.getByLabel('Subject').inputValue() === 'Typed before the session ended', 'typed text is kept after signing in again')
await live()
await page.getByRole('button', { name: 'Saved' }).waitFor() // automatically
check((await api('GET', `/templates/${template.id}`)).template.subject === 'Typed before the session ended', 'typed text is saved')
await context.request.delete(base + '/api/session', { headers: { Origin: base } })
const followed = page.getByRole('link', { name: 'Suppressions' }).click() // later, if a read in the background has opened the dialog
await ended.waitFor()
await signIn(context)
await ended.getByRole('button', { name: 'Continue' }).click()
await followed
await page.getByRole('heading', { name: 'Suppressions', level: 1 }).waitFor()

// 3. The service responds without storage: the page reports it, treats no unknown result as a failure, and recovers automatically.
const fresh = await context.newPage()
let stored = false
await fresh.route('**/readyz', route => (stored ? route.continue() : route.fulfill({ status: 503, body: '{}' })))
await fresh.route('**/graphql', route => (stored || !/"Start/.test(route.request().postData() ?? '') ? route.continue()
  : route.fulfill({ status: 503, contentType: 'application/json', body: '{"error":{"message":"The data is temporarily unavailable. Try again.","code":"delivery_unavailable"}}' })))
cutOff = true
await fresh.goto(base + '/')
const unknown = fresh.getByRole('alert').filter({ hasText: 'Couldn’t load the setup' })
await unknown.waitFor()
check((await unknown.textContent()).includes('The data is temporarily unavailable'), 'a refusal shows the message of the service')
check(await fresh.getByText('Send a first email').count() === 0, 'an unknown outcome is not reported as a failure')
stored = true
await unknown.waitFor({ state: 'detached' })
await fresh.getByText('Send a first email').waitFor()
cutOff = false
await fresh.close()

// At first no read succeeds, not even the one of the signed-in user.
let reads = false
const shut = await context.newPage()
await shut.route('**/readyz', route => (reads ? route.continue() : route.fulfill({ status: 503, body: '{}' })))
await shut.route('**/graphql', route => (reads ? route.continue()
  : route.fulfill({ status: 503, contentType: 'application/json', body: '{"error":{"message":"The data is temporarily unavailable. Try again.","code":"delivery_unavailable"}}' })))
await shut.route(base + '/emails', async route => { // the service cannot read data for the page either
  const response = await route.fetch()
  await route.fulfill({ response, body: (await response.text()).replace('id="preloaded"', 'id="empty"') })
})
cutOff = true
await shut.goto(base + '/emails')
await shut.getByText('The data is temporarily unavailable').waitFor()
reads = true
await shut.getByRole('heading', { name: 'Emails', level: 1 }).waitFor()
cutOff = false
await shut.close()

// 4. A browser clock that is wrong by a day, in both directions.
for (const days of [-1, 1]) {
  const wrongClock = await context.newPage()
  await wrongClock.clock.setSystemTime(Date.now() + days * 86_400_000)
  const subject = `At the right time ${days} ${Date.now()}`
  await send({ subject })
  await wrongClock.goto(base + '/emails')
  const row = wrongClock.getByRole('row').filter({ hasText: subject })
  await row.waitFor()
  check((await row.locator('time').first().innerText()) === 'just now', `with a clock that is off by ${days} day, the page shows ${await row.locator('time').first().innerText()}`)
  await row.click()
  await wrongClock.close()
}
await browser.close()
nothing(wrong)
