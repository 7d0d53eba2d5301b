// The first three minutes of somebody who has begun with `make run`. The line on the first page is pasted into a
// shell: the page ticks it off without being loaded again, and the mail is one click away. One bounces, and the page
// has the words and the suppression. A webhook comes to the receiver that is built in, fails, and is replayed. Then somebody is forgotten.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { check, nothing, open, watch } from './browser.mjs'
import { base, menuOf, seen, settled } from './dashboard.mjs'

const { browser, context, page } = await open({ viewport: { width: 1440, height: 900 }, permissions: ['clipboard-read', 'clipboard-write'] })
const wrong = watch(context, base)
await page.goto(process.env.LINK)
await page.waitForURL(base + '/')
const step = name => page.getByRole('listitem').filter({ hasText: name })
await step('Send a first email').waitFor()
await page.getByText('Waiting for your first email').waitFor()
await page.evaluate(() => { window.before = true })

// 1. The first minute: the line as it is copied.
await page.getByRole('tabpanel').getByRole('button', { name: /^Copy/ }).first().click()
const line = await page.evaluate(() => navigator.clipboard.readText())
check(line.startsWith('curl ') && line.includes('svc_'), `the line has a key in it: ${line}`)
const { stdout } = await promisify(execFile)('sh', ['-c', line.replaceAll('curl ', 'curl -fsS ')])
check(JSON.parse(stdout).id.startsWith('msg_'), `the line sends: ${stdout}`)
await step('Send a first email').getByLabel('done').waitFor()
check(await page.evaluate(() => window.before), 'the page was not loaded again')
await page.getByRole('link').filter({ hasText: 'you@example.com' }).first().click()
await page.getByRole('heading', { name: 'Hello from Postrider' }).waitFor()
await page.frameLocator('iframe').getByRole('heading', { name: 'It works' }).waitFor()

// 2. One bounces.
await menuOf(page).filter({ hasText: 'Start' }).click()
await page.getByRole('link').filter({ hasText: 'Make one bounce' }).click()
await page.getByRole('button', { name: /^Send to bounce@/ }).click()
await page.getByRole('button', { name: 'Follow it' }).click()
await seen(page, /550 5\.1\.1/).first().waitFor()
await page.getByRole('link', { name: /suppress/i }).first().waitFor()

// 3. A webhook.
await menuOf(page).filter({ hasText: 'Start' }).click()
await step('Make one bounce').getByLabel('done').waitFor()
await page.getByRole('link').filter({ hasText: 'Add a webhook' }).click()
await page.getByRole('button', { name: 'Create the endpoint' }).click()
await page.getByRole('button', { name: '500', exact: true }).click()
await page.getByRole('button', { name: 'Send a test event' }).click()
await page.getByRole('row').or(page.getByRole('listitem')).filter({ hasText: 'answered 500' }).first().waitFor()
await page.getByRole('button', { name: '200', exact: true }).click()
await page.getByRole('row').or(page.getByRole('listitem')).filter({ hasText: 'answered 500' }).first().getByText('email.delivered').click()
await settled(page)
await page.getByRole('button', { name: 'Replay' }).click()
await page.getByRole('row').or(page.getByRole('listitem')).filter({ hasText: 'answered 200' }).first().waitFor()

// 4. Somebody asks to be forgotten.
await menuOf(page).filter({ hasText: 'Settings' }).click()
await page.getByLabel('Address', { exact: true }).fill('you@example.com')
await page.getByRole('button', { name: 'Erase', exact: true }).click()
await page.getByRole('button', { name: 'Erase for good' }).click()
await page.getByRole('status').filter({ hasText: 'you@example.com' }).getByText('1 emails to it').waitFor()
await browser.close()
nothing(wrong)
