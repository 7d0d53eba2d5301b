// The dashboard while modules are off (OFF, separated by commas): their screens are neither in the menu nor in the
// palette, their paths do not exist, and the remaining screens work without errors.
import { check, nothing, open, watch } from './browser.mjs'
import { base, menuOf, pathsOf, settled, signIn, visit } from './dashboard.mjs'
import { pagesOf, seed } from './seed.mjs'

const off = process.env.OFF.split(',')
const on = module => !off.includes(module)
const screens = { // screens of each module: the path, and the name in the menu
  inbound: [['/received', 'Received']], automations: [['/automations', 'Automations'], ['/events', 'Events']], webhooks: [['/webhooks', 'Webhooks']],
  templates: [['/templates', 'Templates']], apilog: [['/requests', 'API log']], suppression: [['/suppressions', 'Suppressions']],
  sending: [['/emails', 'Emails'], ['/queue', 'Queue']], devinbox: [['/inbox', 'Development inbox']],
}
const ids = await seed(on)
const { browser, context, page } = await open({ viewport: { width: 1440, height: 900 } })
const wrong = watch(context, base, (text, url) => url.endsWith('/tracking-host') && text.includes('404')) // the host does not exist
context.on('response', async r => {
  if (new URL(r.url()).pathname !== '/graphql' || !r.headers()['content-type']?.includes('json')) return
  const { errors } = await r.json().catch(() => ({}))
  if (errors) wrong.push(`${new URL(page.url()).pathname}: GraphQL says ${JSON.stringify(errors)}`)
})
await signIn(context)
await visit(page, '/')
const names = await menuOf(page).allInnerTexts()
for (const [module, its] of Object.entries(screens))
  for (const [, name] of its) check(names.includes(name) === on(module), `${name} is in the menu if and only if ${module} is on: ${names}`)
check(names.includes('Statistics') === (on('statistics') && on('sending')), `statistics require sent mail: ${names}`)

// The palette contains the same screens as the menu.
await page.keyboard.press('Control+k')
const palette = page.getByRole('dialog', { name: 'Search or jump to' })
await palette.getByRole('option', { name: 'Start' }).waitFor()
const offered = await palette.getByRole('option').evaluateAll(all => all.map(o => o.firstChild.nextSibling.textContent))
check(offered.length === names.length && names.every(n => offered.includes(n)), `the palette offers ${names}, and not ${offered}`)
await Promise.all([page.waitForResponse(r => r.url().endsWith('/graphql')), page.keyboard.type('example')])
await page.keyboard.press('Escape')

for (const [module, its] of Object.entries(screens))
  for (const [path] of on(module) ? [] : its) {
    await page.goto(base + path)
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    check((await page.locator('main').innerText()).includes('Page not found'), `${path} leads nowhere: ${await page.locator('main').innerText()}`)
  }
for (const path of [...(await pathsOf(page)), ...pagesOf(ids)]) {
  await visit(page, path)
  const tabs = page.locator('main [role=tab]')
  for (let i = 0; i <= await tabs.count(); i++) {
    for (const words of await page.locator('main [role=alert]').allInnerTexts()) wrong.push(`${path}: ${words}`)
    if (i === await tabs.count()) break
    await tabs.nth(i).click()
    await settled(page)
  }
}
await browser.close()
nothing(wrong)
