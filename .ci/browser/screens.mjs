// Every screen of the menu is looked at by axe in both themes, wide and narrow, loads nothing from elsewhere
// and reports no error. So is an email that bounced. SHOTS keeps pictures.
import { check, nothing, open, violations, watch } from './browser.mjs'
import { api, base, pathsOf, signIn, visit } from './dashboard.mjs'

const { browser, context, page } = await open()
const wrong = watch(context, base)
await signIn(context)
await visit(page, '/')
const paths = await pathsOf(page)
check(paths.length > 5, `the menu has screens, and not only ${paths}`)
const { emails } = await api('GET', '/emails?status=bounced&limit=1')
for (const path of [...paths, `/emails/${emails[0].id}`]) {
  await visit(page, path)
  for (const theme of ['light', 'dark'])
    for (const width of [1440, 390]) {
      for (const v of await violations(page, theme, width)) wrong.push(`${path} ${theme} ${width}: ${v}`)
      const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
      if (wide) wrong.push(`${path} ${width}: is wider than the window`)
    }
  await page.setViewportSize({ width: 1440, height: 900 })
}
await browser.close()
nothing(wrong)
