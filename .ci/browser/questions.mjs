// Questions of a new user, each answered from the start page with a few actions: why an address did not get its
// invoice, which email has order 2202, how to make an automation wait two days, which endpoint is broken or fails, and
// since when, and who else sends in the name of a domain, and whether its DMARC policy can be stricter. An action is a click, a shortcut or a typed text. film.mjs sends the test email from production.
import { check, nothing, open, violations, watch } from './browser.mjs'
import { api, base, seen, send, settled, signIn, until, visit } from './dashboard.mjs'
import { website } from './peers.mjs'

const endpoint = await website(answer => answer.writeHead(410).end())
const unavailable = await website(answer => answer.writeHead(503).end())
const { webhook } = await api('POST', '/webhooks', { url: `http://127.0.0.1:${endpoint.port}/orders`, events: ['email.sent'] })
await api('POST', '/webhooks', { url: `http://127.0.0.1:${endpoint.port}/unused`, events: ['email.complained'] })
await api('POST', '/webhooks', { url: `http://127.0.0.1:${unavailable.port}/invoices`, events: ['email.sent'] })
await api('POST', '/suppressions', { email: 'bob@example.net' })
await send({ to: 'bob@example.net', subject: 'Invoice 77' })
for (const order of [2201, 2202, 2203]) await send({ to: `reader${order}@example.net`, subject: `Your order ${order} has shipped` })
const { automation } = await api('POST', '/automations', { name: 'Welcome', trigger: { event: 'user.created' }, steps: [
  { key: 'pause', type: 'delay', duration: 'P1D' }, { key: 'hello', type: 'send_email', from: 'Ada <ada@dev.test>', subject: 'Welcome', text: 'Hello' }] })
await api('POST', `/automations/${automation.id}`, { action: 'activate' })
await until('the endpoint is disabled', async () => (await api('GET', `/webhooks/${webhook.id}`)).webhook.enabled === false)

const { browser, context, page } = await open({ viewport: { width: 1440, height: 900 } })
const wrong = watch(context, base)
await signIn(context)
let actions = 0
const click = async it => { actions++; await it.click() }
const press = async keys => { actions++; await page.keyboard.press(keys) }
const type = async text => { actions++; await page.keyboard.type(text) }
const fill = async (it, text) => { actions++; await it.fill(text) }
const go = name => click(page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: new RegExp(`^${name}`) }))
// answer asks a question on the start page, and limits the number of actions to its answer.
async function answer(question, limit, steps) {
  await visit(page, '/')
  actions = 0
  await steps()
  check(actions <= limit, `"${question}" takes at most ${limit} actions, not ${actions}`)
  console.log(`${question} ${actions} actions`)
}

await answer('Why did bob@ not get the invoice?', 3, async () => {
  await press('Control+k')
  await type('bob@') // immediately: keys typed while the palette loads are kept
  await click(page.getByRole('option', { name: /Invoice 77/ }).first())
  await page.getByRole('heading', { name: 'Invoice 77' }).waitFor()
  await seen(page, /bob@example\.net was suppressed .*Added here or through the API/).first().waitFor()
})
await answer('Which email has order 2202?', 3, async () => {
  await go('Emails')
  await page.getByRole('combobox', { name: 'Filter' }).waitFor()
  await press('/')
  await type('2202')
  await page.waitForFunction(() => document.querySelectorAll('tr[data-row]').length === 1)
  await page.locator('tr[data-row]').filter({ hasText: 'Your order 2202 has shipped' }).waitFor()
})
await answer('How does the welcome automation wait two days?', 7, async () => {
  await go('Automations')
  await click(page.getByRole('link', { name: 'Welcome', exact: true }))
  await click(page.getByRole('main').getByRole('button', { name: /^Wait/ }).first())
  await fill(page.getByRole('spinbutton'), '2')
  await click(page.getByRole('button', { name: 'Save draft' }))
  await click(page.getByRole('button', { name: 'Activate changes' }))
  await click(page.getByRole('dialog').getByRole('button', { name: 'Activate', exact: true }))
  await until('the automation waits two days', async () => JSON.stringify(await api('GET', `/automations/${automation.id}`)).includes('"P2D"'))
  await seen(page, 'Version 2 activated').first().waitFor()
})
await answer('Which endpoint fails, and since when?', 2, async () => {
  await go('Webhooks')
  await settled(page)
  const row = page.getByRole('row').filter({ hasText: '/invoices' })
  await row.getByText('Failing').waitFor()
  await page.getByRole('columnheader', { name: 'Since' }).waitFor()
  await until('the list shows since when', async () => await row.locator('time').count() === 2) // and when it was added
  await click(page.getByRole('link', { name: /\/invoices$/ }))
  await page.getByRole('status').filter({ hasText: /Failing since .*No delivery succeeded/ }).waitFor()
})
await answer('Which endpoint is broken, and since when?', 2, async () => {
  await go('Webhooks')
  await settled(page)
  await page.getByRole('row').filter({ hasText: '/orders' }).getByText('Disabled').waitFor()
  await page.getByRole('row').filter({ hasText: '/unused' }).getByText('Enabled').waitFor()
  await click(page.getByRole('link', { name: /\/orders$/ }))
  await page.getByRole('status').filter({ hasText: /Disabled .*(ago|now) after it responded 410 Gone/ }).waitFor()
})
await answer('Who else sends as dev.test, and can its DMARC policy be stricter?', 3, async () => {
  await go('Domains')
  await click(page.getByRole('link', { name: 'dev.test' }))
  await click(page.getByRole('tab', { name: 'Deliverability' }))
  const row = server => page.getByRole('table', { name: 'Messages by server' }).getByRole('row').filter({ hasText: server })
  const cells = async server => (await row(server).getByRole('cell').allInnerTexts()).slice(1).join(' | ')
  await row('192.0.2.25').getByText('Postrider', { exact: true }).waitFor()
  await row('198.51.100.7').getByText('SendGrid', { exact: true }).waitFor()
  check(await cells('198.51.100.7') === '200 | 0 % | 200', `the newsletter service shows ${await cells('198.51.100.7')}`)
  check(await cells('203.0.113.9') === '40 | 0 % | 0', `the forger shows ${await cells('203.0.113.9')}`)
  await seen(page, 'Authenticate your sources first').waitFor()
  await seen(page, /198\.51\.100\.7|SendGrid/).first().waitFor()
})
for (const theme of ['light', 'dark']) {
  for (const width of [1440, 390]) for (const v of await violations(page, theme, width)) wrong.push(`deliverability ${theme} ${width}: ${v}`)
}
await browser.close()
nothing(wrong)
