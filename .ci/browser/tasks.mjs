// Common tasks, once with the mouse and once with the keyboard only: add a domain and verify its records; write,
// preview, publish and test-send a template; create, try and activate an automation; invite a colleague; replay
// a failed webhook. ZONE publishes the records of a domain in the DNS of the test.
import { check, nothing, open, watch } from './browser.mjs'
import { api, base, seen, send, signIn, until, visit } from './dashboard.mjs'
import { keyboard, mouse } from './input.mjs'
import { website } from './peers.mjs'

let gone = true // the endpoint responds with 410, and later with 200
const endpoint = await website(answer => answer.writeHead(gone ? 410 : 200).end())
const { browser, context, page } = await open({ viewport: { width: 1440, height: 900 } })
const wrong = watch(context, base, (text, url) => url.endsWith('/tracking-host') && text.includes('404')) // the host does not exist
await signIn(context)
await visit(page, '/')
const button = (name, within = page) => within.getByRole('button', { name, exact: true })
const dialog = name => page.getByRole('dialog', { name })
// closed waits until a dialog is closed, and checks that the focus is not lost.
const closed = async (hand, name) => {
  await dialog(name).waitFor({ state: 'detached' })
  if (hand.name === 'keyboard') await page.waitForFunction(() => document.activeElement !== document.body).catch(() => wrong.push(`the focus is lost after the dialog "${name}"`))
}

async function all(hand) {
  const by = hand.name

  await hand.go('Domains')
  await hand.press(button('Add a domain').first())
  await hand.fill(dialog('Add a domain').getByLabel('Name'), `${by}.example`)
  await hand.press(button('Add domain'))
  await closed(hand, 'Add a domain')
  await page.getByRole('heading', { name: `${by}.example`, level: 1 }).waitFor()
  const records = page.getByRole('table', { name: 'DNS records' }).getByRole('row')
  await records.filter({ hasText: 'Not checked' }).first().waitFor()
  await hand.press(button('Verify now'))
  await records.filter({ hasText: 'DKIM' }).getByText('Missing').waitFor()
  const { domains } = await api('GET', '/domains')
  const published = await fetch(process.env.ZONE, { method: 'POST', body: JSON.stringify(domains.find(d => d.name === `${by}.example`).records) })
  check(published.ok, 'the records are published')
  await hand.press(button('Verify now'))
  await records.filter({ hasText: 'DKIM' }).getByText('Found').waitFor()
  await records.filter({ hasText: 'Ownership' }).getByText('Found').waitFor()
  await seen(page, 'Verified').first().waitFor()

  await hand.go('Templates')
  await hand.press(button('New template').first())
  await hand.fill(dialog('New template').getByLabel('Name'), `Receipt by ${by}`)
  await hand.press(button('Create draft'))
  await closed(hand, 'New template')
  await hand.fill(page.getByLabel('Subject'), `Thank you by ${by}`)
  await hand.fill(page.getByLabel('From'), 'ada@dev.test')
  await page.getByRole('region', { name: 'Preview' }).getByText(`Thank you by ${by}`).waitFor()
  await button('Saved').waitFor() // automatically
  await hand.press(button('Publish'))
  await hand.press(button('Publish', dialog('Publish the draft?')))
  await seen(page, 'Version 1 published').first().waitFor()
  await closed(hand, 'Publish the draft?')
  await hand.press(button('More actions'))
  await hand.press(page.getByRole('menuitem', { name: 'Send test email' }))
  await hand.fill(dialog('Send test email').getByLabel('To'), `test-${by}@example.net`)
  await hand.press(button('Send', dialog('Send test email')))
  await page.getByText('Email accepted.').waitFor()
  await hand.press(button('Close', dialog('Send test email')))
  await closed(hand, 'Send test email')

  await hand.go('Automations')
  await hand.press(button('New automation').first())
  await hand.fill(dialog('New automation').getByLabel('Name'), `Welcome by ${by}`)
  await hand.press(button('Create draft'))
  await closed(hand, 'New automation')
  await hand.press(page.getByRole('tab', { name: 'Dry run' }))
  await hand.press(button('Dry run'))
  await page.getByRole('region', { name: 'Simulated run' }).getByText('Welcome').first().waitFor()
  await hand.press(button('Activate'))
  await hand.press(button('Activate', dialog('Activate the draft?')))
  await seen(page, 'Version 1 activated').first().waitFor()
  await closed(hand, 'Activate the draft?')

  await hand.go('Team')
  await hand.press(button('Invite'))
  await hand.fill(dialog('Invite a member').getByLabel('Email', { exact: true }), `${by}@example.com`)
  await hand.press(button('Send invitation'))
  await closed(hand, 'Invite a member')
  await page.getByRole('row').or(page.getByRole('listitem')).filter({ hasText: `${by}@example.com` }).first().waitFor()

  gone = true
  const { webhook } = await api('POST', '/webhooks', { url: `http://127.0.0.1:${endpoint.port}/${by}`, events: ['email.sent'] })
  await send({ subject: 'To be delivered' })
  const failed = await until('a delivery fails', async () => (await api('GET', `/webhooks/${webhook.id}/deliveries`)).deliveries.find(d => d.state === 'failed'))
  await page.reload()
  await page.getByRole('navigation', { name: 'Main' }).getByRole('listitem').filter({ hasText: /^Webhooks\d+ need attention$/ }).waitFor()
  gone = false
  await api('PATCH', `/webhooks/${webhook.id}`, { enabled: true })
  await hand.go('Webhooks')
  await hand.press(page.getByRole('link', { name: new RegExp(`/${by}$`) }))
  await page.getByRole('heading', { level: 1 }).waitFor()
  const figure = page.getByRole('region', { name: 'Deliveries over time' })
  await figure.getByRole('img', { name: /Failed 1$/ }).waitFor()
  await hand.press(figure.getByRole('button', { name: '7 days' }))
  await hand.press(figure.getByRole('button', { name: 'By hour' }))
  await page.waitForURL(url => url.search === '?range=7d&by=HOUR') // the link contains the range of the statistics
  await figure.getByRole('img', { name: /Failed 1$/ }).waitFor()
  await hand.press(page.getByRole('table').getByRole('link', { name: 'email.sent' }).first())
  await hand.press(button('Replay'))
  await until('the delivery is replayed', async () => (await api('GET', `/webhook-deliveries/${failed.id}`)).delivery.state === 'delivered')
  await page.getByRole('complementary').getByText('Delivered').first().waitFor()
}

await all(mouse(page))

// Keyboard only: the skip link and the shortcuts of lists.
await visit(page, '/emails')
await page.keyboard.press('Tab')
await page.getByRole('link', { name: 'Skip to content' }).waitFor()
await page.keyboard.press('Enter')
await page.waitForFunction(() => document.activeElement?.id === 'content') // the first link skips the menu
const rows = page.getByRole('table', { name: 'Emails' }).locator('tr[data-row]')
await page.keyboard.press('j')
await page.keyboard.press('j')
await page.keyboard.press('k')
await page.keyboard.press('Enter')
const sheet = page.getByRole('complementary', { name: 'Email' })
await sheet.waitFor()
check(new URL(page.url()).searchParams.get('open') === await rows.first().getAttribute('data-row'), 'j, k and Enter open the first row')
await page.waitForFunction(() => document.activeElement?.closest('aside')) // the focus is in the sheet
await page.keyboard.press('Escape')
await sheet.waitFor({ state: 'detached' })
await page.waitForFunction(() => document.activeElement?.closest('tr[data-row]')) // and back in the list
const stops = () => page.evaluate(() => new Set([...document.querySelectorAll('tr[data-row] a, tr[data-row] button, tr[data-row] input')].filter(e => e.tabIndex >= 0).map(e => e.closest('tr').dataset.row)).size)
check(await rows.count() > 1 && await stops() === 1, `one row of ${await rows.count()} is in the tab order, not ${await stops()}`)
await page.keyboard.press('x')
await page.keyboard.press('b')
await page.waitForFunction(() => document.activeElement?.closest('[data-bulk]'))
await page.keyboard.press('Escape')
await page.keyboard.press('?')
await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Move to the actions for selected rows').waitFor()
await page.keyboard.press('Escape')
await page.getByRole('dialog').waitFor({ state: 'detached' })
await page.keyboard.press('Control+k')
await page.getByRole('dialog', { name: 'Search or jump to' }).waitFor()
await page.keyboard.type('create api')
await page.getByRole('option', { name: 'Create API key' }).waitFor()
await page.keyboard.press('Enter')
await page.getByRole('dialog', { name: 'Create API key' }).waitFor()
await page.keyboard.press('Escape')
await visit(page, '/emails')
await page.keyboard.press('/')
await page.keyboard.type('test-mouse')
await page.keyboard.press('Enter')
await page.waitForURL(/q=test-mouse/)
await page.waitForFunction(() => document.querySelectorAll('tr[data-row]').length === 1)

await visit(page, '/')
await all(keyboard(page, wrong))
await browser.close()
nothing(wrong)
