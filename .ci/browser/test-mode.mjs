// Test mode: create a test key, send with it, switch the tab to test mode, and read the captured email. A banner is on
// every page, all screens show only data of test mode and pass axe in both themes, and live mode shows none of it.
import { check, nothing, open, violations, watch } from './browser.mjs'
import { base, menuOf, pathsOf, seen, send, settled, signIn, until, visit } from './dashboard.mjs'

const { browser, context, page } = await open({ viewport: { width: 1440, height: 900 }, permissions: ['clipboard-read', 'clipboard-write'] })
const wrong = watch(context, base)
await signIn(context)
const dialog = page.getByRole('dialog')

// 1. Create a test key, and send with it and with a live key.
await visit(page, '/keys?create=sending')
await dialog.getByLabel('Name').fill('end-to-end tests')
await dialog.getByRole('radio', { name: /^Test/ }).check()
await dialog.getByRole('button', { name: 'Create key' }).click()
const secret = await dialog.locator('code.select-all').innerText()
check(secret.startsWith('svc_test_'), `the secret begins with svc_test_: ${secret.slice(0, 12)}`)
const answer = await fetch(base + '/api/emails', { method: 'POST', headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' },
  body: JSON.stringify({ from: 'ada@dev.test', to: 'bob@example.net', subject: 'Only in test mode', html: '<p>Hello <a href="https://app.example.com/reset">reset</a></p>' }) })
check(answer.ok, `the test key sends: ${answer.status}`)
await send({ subject: 'Only in live mode', to: 'carol@example.net' })

// 2. Live mode does not show the email, and has no banner.
await visit(page, '/emails')
await seen(page, 'Only in live mode').first().waitFor()
check(await page.getByText('Only in test mode').count() === 0, 'live mode shows no email of test mode')
check(await page.getByRole('status').filter({ hasText: 'Test mode' }).count() === 0, 'live mode has no banner')

// 3. Switch, with a click while the menu is still loading. The inbox shows the email and its parts.
let load
const clicked = new Promise(done => { load = done })
const loading = new Promise(begun => page.route('**/assets/*.js', async route => {
  const response = await route.fetch()
  const script = await response.text()
  if (script.includes('/manual/CHANGELOG')) {
    begun()
    await clicked
  }
  await route.fulfill({ response, body: script })
}))
await visit(page, '/emails')
await loading
await page.getByRole('navigation', { name: 'Main' }).locator('button[aria-haspopup=menu]').click()
load()
await page.getByRole('menuitemcheckbox', { name: 'Test mode' }).click()
await page.waitForURL('**/test-inbox')
await page.unrouteAll({ behavior: 'ignoreErrors' }) // or a later navigation would end a request of the route
const banner = page.getByRole('status').filter({ hasText: 'Test mode: emails are captured, not sent' })
await banner.waitFor()
await page.getByRole('link', { name: 'Only in test mode' }).click()
await page.getByRole('heading', { name: 'Only in test mode' }).waitFor()
await page.getByRole('tab', { name: /Links/ }).click()
await seen(page, 'https://app.example.com/reset').first().waitFor()
await page.getByRole('link', { name: 'View delivery' }).click()
await seen(page, 'Only in test mode').first().waitFor()

// 4. Every screen of the menu has the banner, shows nothing of live mode and passes axe.
const paths = await pathsOf(page)
check(paths.includes('/emails') && paths.includes('/webhooks') && !paths.includes('/keys') && !paths.includes('/settings/billing'), `the menu has the screens of test mode: ${paths}`)
for (const path of paths) {
  await page.goto(base + path)
  await settled(page)
  check(await banner.count() === 1, `${path} has the banner`)
  check(await page.getByRole('button', { name: /^(Add a domain|New template|New automation)$/ }).count() === 0, `${path} offers no change of what both modes share`)
  check(await page.getByText('Only in live mode').count() === 0, `${path} shows nothing of live mode`)
  check(await page.getByRole('main').getByRole('alert').count() === 0, `${path} loads: ${await page.getByRole('main').getByRole('alert').allInnerTexts()}`)
}
await page.goto(base + '/domains')
await settled(page)
await page.getByRole('main').getByRole('row').getByRole('link').first().click()
await settled(page)
check(await page.getByRole('main').getByRole('alert').count() === 0, `the page of a domain loads: ${await page.getByRole('main').getByRole('alert').allInnerTexts()}`)
await page.goto(base + '/test-inbox')
await settled(page)
for (const theme of ['light', 'dark']) wrong.push(...(await violations(page, theme, 1440)).map(v => `/test-inbox: ${v}`))

// 5. A new tab is in live mode, and this tab returns to it.
const other = await context.newPage()
await visit(other, '/emails')
await seen(other, 'Only in live mode').first().waitFor()
await page.getByRole('button', { name: 'Switch to live mode' }).click()
await menuOf(page).first().waitFor()
await until('the banner is gone', async () => await banner.count() === 0)
await browser.close()
nothing(wrong)
