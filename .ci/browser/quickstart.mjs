// The first three minutes after `make run`. The command on the start page is pasted into a shell: the page checks the
// step off without a reload, and the email is one click away. An email bounces, and the page shows the reply and the
// suppression. A webhook reaches the built-in receiver, fails, and is replayed. A list of suppressions is imported and
// exported. Finally, a contact is erased.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
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
const heights = () => page.getByRole('main').getByRole('heading', { level: 2 }).evaluateAll(all => all.map(h => `${h.innerText} ${Math.round(h.getBoundingClientRect().top)}`).join())
await page.evaluate(() => { window.before = true })
const placed = await heights()

// 1. The command from the start page.
await page.getByRole('tabpanel').getByRole('button', { name: /^Copy/ }).first().click()
const line = await page.evaluate(() => navigator.clipboard.readText())
check(line.startsWith('export POSTRIDER_API_KEY=svc_') && line.includes('curl '), `the line contains a key: ${line}`)
const { stdout } = await promisify(execFile)('sh', ['-c', line.replaceAll('curl ', 'curl -fsS ')])
check(JSON.parse(stdout).id.startsWith('msg_'), `the line sends: ${stdout}`)
await step('Send a first email').getByLabel('done').waitFor()
check(await page.evaluate(() => window.before), 'the page was not reloaded')
await page.getByRole('link').filter({ hasText: process.env.EMAIL }).first().waitFor()
check(await heights() === placed, `the first email moves nothing: ${placed}, then ${await heights()}`)
await page.getByRole('link').filter({ hasText: process.env.EMAIL }).first().click()
await page.getByRole('heading', { name: 'Hello from Postrider' }).waitFor()
await page.frameLocator('iframe').getByRole('heading', { name: 'It works' }).waitFor()

// 2. A bounce.
await menuOf(page).filter({ hasText: 'Start' }).click()
await page.getByRole('link').filter({ hasText: 'Simulate a bounce' }).click()
await page.getByRole('button', { name: /^Send to bounce@/ }).click()
await page.getByRole('button', { name: 'View email' }).click()
await seen(page, /550 5\.1\.1/).first().waitFor()
await page.getByRole('link', { name: 'View suppression' }).waitFor()
await page.getByRole('link', { name: /^bounce\b.*@/ }).first().click() // the page of the address
await page.getByText('Suppressed', { exact: true }).waitFor()
await page.getByRole('link').filter({ hasText: 'Bounced' }).first().waitFor()
await page.goBack()
await page.getByRole('button', { name: 'Send again' }).click()
const again = page.getByRole('dialog', { name: 'Send this email again?' })
await again.getByText('The recipient is suppressed, so the email would not be sent').waitFor()
await again.getByRole('button', { name: 'Remove from suppression list and send again' }).click()
await page.getByRole('button', { name: 'View', exact: true }).click()
await seen(page, /550 5\.1\.1/).first().waitFor() // the new email was attempted
await page.getByRole('tab', { name: 'Raw' }).click()
await page.getByText('Content-Type: text/plain').or(page.getByText('MIME-Version: 1.0')).first().waitFor()
const [message] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download .eml' }).click()])
check(/^msg_\w+\.eml$/.test(message.suggestedFilename()) && readFileSync(await message.path(), 'utf8').includes('MIME-Version: 1.0'), `the message is downloaded: ${message.suggestedFilename()}`)

// 3. A webhook.
await menuOf(page).filter({ hasText: 'Start' }).click()
await step('Simulate a bounce').getByLabel('done').waitFor()
await page.getByRole('link').filter({ hasText: 'Add a webhook' }).click()
await page.getByRole('button', { name: 'Create endpoint' }).click()
await page.getByRole('button', { name: '500', exact: true }).click()
await page.getByRole('button', { name: 'Send a test event' }).click()
await page.getByRole('row').or(page.getByRole('listitem')).filter({ hasText: 'responded 500' }).first().waitFor()
await page.getByRole('button', { name: '200', exact: true }).click()
await page.getByRole('row').or(page.getByRole('listitem')).filter({ hasText: 'responded 500' }).first().getByText('email.delivered').click()
await settled(page)
await page.getByRole('button', { name: 'Replay' }).click()
await page.getByRole('row').or(page.getByRole('listitem')).filter({ hasText: 'responded 200' }).first().waitFor()

// 4. Import and export of a list, both with progress.
const progress = []
await page.exposeFunction('noteProgress', text => progress.push(text))
await page.evaluate(() => new MutationObserver(() => document.querySelectorAll('dialog progress').forEach(p => window.noteProgress(`${p.getAttribute('aria-label')} ${p.hasAttribute('value') ? `${p.value} of ${p.max}` : ''}`.trim()))).observe(document.body, { childList: true, subtree: true, attributes: true }))
await menuOf(page).filter({ hasText: 'Suppressions' }).click()
await page.getByRole('button', { name: 'Import CSV' }).click()
const many = Array.from({ length: 1100 }, (_, i) => `line${i}@list.example`)
await page.getByLabel('Or paste addresses').fill(['email', ...many, 'no address', '=1+1@list.example'].join('\n'))
await page.getByRole('button', { name: 'Suppress 1,102' }).click()
const report = page.getByRole('dialog', { name: 'Import results' })
await report.getByRole('status').filter({ hasText: /1,102 of 1,102 lines: 1,?101 added/ }).waitFor()
await report.getByRole('row').filter({ hasText: 'no address' }).getByText('Failed').waitFor()
check(progress.includes('Lines imported 1000 of 1102'), `the import shows its progress: ${[...new Set(progress)]}`)
await report.getByRole('button', { name: 'Close' }).first().click()
const exported = async format => {
  await page.getByRole('button', { name: 'Export suppressions' }).click()
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: format }).click()])
  await page.getByRole('status').filter({ hasText: /1,10\d rows/ }).last().waitFor()
  return readFileSync(await file.path(), 'utf8').trim().split('\n')
}
const [csv, lines] = [await exported('CSV'), await exported('JSON Lines')]
check(progress.includes('Export'), 'the export shows that it has started')
check(csv.length === lines.length + 1 && many.every(a => csv.some(row => row.includes(a)) && lines.some(row => JSON.parse(row).email === a)), `the files have all addresses: ${csv.length} and ${lines.length} lines`)
check(csv.some(row => row.includes(`'=1+1@list.example`)), 'a formula is escaped for spreadsheets')

// 5. Erasure.
await menuOf(page).filter({ hasText: 'Settings' }).click()
await page.getByLabel('Address', { exact: true }).fill(process.env.EMAIL)
await page.getByRole('button', { name: 'Erase', exact: true }).click()
await page.getByRole('button', { name: 'Erase permanently' }).click()
await page.getByRole('status').filter({ hasText: process.env.EMAIL }).getByText('1 emails to the address').waitFor()
check(progress.includes('Emails erased 0 of 1'), `erasure shows its progress: ${[...new Set(progress)]}`)
await browser.close()
nothing(wrong)
