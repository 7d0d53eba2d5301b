// Takes screenshots of every screen, of detail pages with each tab, and of lists with an open sheet, in both themes,
// wide and narrow. axe checks the wide ones. SHOTS is the folder. ONLY limits the run to names that contain it. IDS are
// the ids that demo.mjs created, if it ran before. Console messages are reported at the end.
import { nothing, open, violations, watch } from './browser.mjs'
import { base, pathsOf, settled, signIn, visit } from './dashboard.mjs'
import { demo } from './demo.mjs'

const ids = process.env.IDS ? JSON.parse(process.env.IDS) : await demo()
console.log(JSON.stringify(ids))
if (!process.env.SHOTS) process.exit()
const { browser, context, page } = await open({ viewport: { width: 1440, height: 900 } })
const wrong = watch(context, base, (text, url) => url.endsWith('/tracking-host') && text.includes('404')) // the host does not exist
await signIn(context)
await context.request.post(`${base}/api/invitations`, { data: { email: 'noor@northwind.example', role: 'developer' }, headers: { Origin: base } })
await visit(page, '/')
const paths = [
  ...(await pathsOf(page)), `/emails?open=${ids.bounced}`, `/emails?q=${encodeURIComponent('tag:kind=receipt is:delivered')}`, `/emails/${ids.bounced}`, `/emails/${ids.opened}`, `/emails/${ids.receipt}`, `/emails/${ids.scheduled}`, '/queue?tab=scheduled',
  `/received?open=${ids.received}`, `/received/${ids.received}`, '/received/rules', `/domains/${ids.domain}`, `/domains/${ids.devDomain}`, `/webhooks/${ids.webhook}`, `/webhooks/${ids.webhook}?open=${ids.delivery}`, `/templates/${ids.template}`,
  `/automations/${ids.automation}`, `/automations/runs/${ids.run}`, `/events?open=${ids.event}`, `/events/${ids.event}`, `/suppressions?open=${ids.suppression}`, `/suppressions/${ids.suppression}`, '/settings/billing', '/nowhere',
]
const shoot = async name => {
  if (process.env.ONLY && !process.env.ONLY.split(',').some(o => name.includes(o))) return
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 900 })
      await settled(page)
      await page.evaluate(() => new Promise(done => setTimeout(done, 120))) // wait for charts and editors
      await page.screenshot({ path: `${process.env.SHOTS}/${name}-${colorScheme}-${width}.png` })
      if (width === 1440) for (const v of await violations(page, colorScheme, width)) wrong.push(`${name} ${colorScheme}: ${v}`)
      if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) wrong.push(`${name} ${width}: is wider than the window`)
    }
  }
  await page.setViewportSize({ width: 1440, height: 900 })
}
for (const path of [...new Set(paths)]) {
  const name = path.slice(1).replace(/[a-z]{2,3}_01[a-z0-9]{24}/g, 'one').replace(/\W+/g, '-') || 'start'
  if (process.env.ONLY && !process.env.ONLY.split(',').some(o => name.includes(o.split('--')[0]))) continue
  await visit(page, path)
  await shoot(name === 'emails-one' ? `emails-one-${Object.keys(ids).find(k => path.endsWith(ids[k]))}` : name)
  const tabs = page.locator('main [role=tab]')
  for (let i = 1; i < await tabs.count(); i++) {
    const tab = (await tabs.nth(i).innerText()).replace(/\W+\d*/g, '').toLowerCase()
    await tabs.nth(i).click()
    await settled(page)
    await shoot(`${name}--${tab}`)
  }
}
await browser.close()
nothing(wrong)
