// Two people edit the same template, and the same automation: the second one sees a warning, loses nothing, and can
// overwrite the first or not. On a slow connection, a list shows that it is loading, and a second click does not repeat
// an action.
import { check, nothing, open, pageTimeout, watch } from './browser.mjs'
import { api, base, signIn, visit } from './dashboard.mjs'

const { browser, context: ada } = await open({ viewport: { width: 1440, height: 900 } })
const bob = await browser.newContext({ viewport: { width: 1440, height: 900 } })
bob.setDefaultTimeout(pageTimeout)
const wrong = [ada, bob].map(context => watch(context, base, text => text.includes('409')))
await Promise.all([signIn(ada), signIn(bob)])
const [first] = ada.pages()
const second = await bob.newPage()
const both = path => Promise.all([visit(first, path), visit(second, path)])
const saved = page => page.getByRole('button', { name: 'Saved' }).waitFor()

// 1. A template.
const { template } = await api('POST', '/templates', { name: 'Ours', subject: 'Hello', from: 'ada@dev.test', html: '<p>Hello</p>' })
await both(`/templates/${template.id}`)
await first.getByLabel('Subject').fill('What Ada wrote')
await first.getByRole('button', { name: 'Save', exact: true }).or(first.getByRole('button', { name: 'Saving…' })).waitFor()
await second.getByLabel('Name', { exact: true }).fill('What Bob wrote')
await saved(first) // automatically; a name takes effect immediately, so it is saved on request only
await second.getByRole('button', { name: 'Save', exact: true }).click()
const conflict = second.getByRole('dialog', { name: /changed this template/ })
await conflict.getByRole('button', { name: 'Keep editing' }).click()
check(await second.getByLabel('Name', { exact: true }).inputValue() === 'What Bob wrote', 'the second user keeps their text')
const stored = async () => { const { template: t } = await api('GET', `/templates/${template.id}`); return [t.name, t.subject].join(', ') }
check(await stored() === 'Ours, What Ada wrote', `the first change is not overwritten: ${await stored()}`)
await second.getByRole('button', { name: 'Save', exact: true }).click()
await conflict.getByRole('button', { name: 'Save both' }).click()
await saved(second)
check(await stored() === 'What Bob wrote, What Ada wrote', `changes to different fields are merged: ${await stored()}`)
// The first person has not seen that, and makes the same change as the second.
await first.getByLabel('Name', { exact: true }).fill('What Ada wrote then')
await first.getByRole('button', { name: 'Save', exact: true }).click()
const toldFirst = first.getByRole('dialog', { name: /changed this template/ })
await toldFirst.getByRole('region', { name: 'Changed by both' }).getByText('What Bob wrote').waitFor()
await toldFirst.getByRole('button', { name: 'Theirs', exact: true }).click()
await toldFirst.getByRole('button', { name: 'Save selection' }).click()
await saved(first)
check(await stored() === 'What Bob wrote, What Ada wrote', `their version was chosen: ${await stored()}`)

// 2. The draft of an automation.
const steps = [{ key: 'hello', type: 'send_email', from: 'ada@dev.test', subject: 'Hello', text: 'Hello' }]
const { automation } = await api('POST', '/automations', { name: 'Ours', trigger: { event: 'user.created' }, steps })
await both(`/automations/${automation.id}?tab=definition`)
const write = async (page, subject) => {
  const editor = page.locator('.cm-content')
  await editor.waitFor()
  const text = await editor.evaluate(e => e.cmTile?.view?.state.doc.toString() ?? e.innerText)
  await editor.fill(text.replace('"subject": "Hello"', `"subject": "${subject}"`))
}
await write(first, 'What Ada wrote')
await write(second, 'What Bob wrote')
await first.getByRole('button', { name: 'Save draft' }).click()
await saved(first)
await second.getByRole('button', { name: 'Save draft' }).click()
const toldToo = second.getByRole('dialog', { name: /changed this draft/ })
await toldToo.getByRole('button', { name: 'Keep editing' }).click()
await second.locator('.cm-content').getByText('What Bob wrote').waitFor()
const draft = async () => (await api('GET', `/automations/${automation.id}`)).automation.steps[0].subject
check(await draft() === 'What Ada wrote', 'the first change is not overwritten')
await second.getByRole('button', { name: 'Save draft' }).click()
await toldToo.getByRole('button', { name: 'Use theirs' }).click()
await second.locator('.cm-content').getByText('What Ada wrote').waitFor()

// 3. A slow connection: half a second each way.
const devtools = await ada.newCDPSession(first)
await devtools.send('Network.enable')
await devtools.send('Network.emulateNetworkConditions', { offline: false, latency: 500, downloadThroughput: 100_000, uploadThroughput: 100_000 })
await Promise.all([ // the indicator shows for the duration of the delay
  first.locator('.skeleton, [aria-busy=true]').first().waitFor(),
  first.getByRole('link', { name: 'Webhooks' }).click(),
])
await first.getByRole('button', { name: 'Add an endpoint' }).first().click()
const once = `http://127.0.0.1:9/once/${Date.now()}`
await first.getByLabel('URL').fill(once)
await first.getByRole('dialog').getByRole('button', { name: 'Add endpoint' }).dblclick()
await first.getByRole('button', { name: 'I’ve copied it' }).click()
const { webhooks } = await api('GET', '/webhooks')
check(webhooks.filter(w => w.url === once).length === 1, 'two clicks add one endpoint')
await browser.close()
nothing(wrong.flat())
