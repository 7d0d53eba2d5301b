// axe checks every screen of the menu and a bounced email in both themes, wide and narrow. No screen loads anything
// from other hosts or reports an error. With EMPTY, the account has no data: the empty state of each list is checked
// once in each theme, and must offer a next step.
import { check, nothing, open, violations, watch } from './browser.mjs'
import { api, base, pathsOf, signIn, visit } from './dashboard.mjs'

const looks = process.env.EMPTY ? [['light', 1440], ['dark', 390]] : ['light', 'dark'].flatMap(theme => [1440, 390].map(width => [theme, width]))
const { browser, context, page } = await open()
const wrong = watch(context, base)
await signIn(context)
await visit(page, '/')
const paths = await pathsOf(page)
check(paths.length > 5, `the menu has more screens than ${paths}`)
if (!process.env.EMPTY) {
  const { emails } = await api('GET', '/emails?status=bounced&limit=1')
  paths.push(`/emails/${emails[0].id}`)
}
// tight reports lists that are wider than their container, or whose last visible column has no space after it.
const tight = () => page.evaluate(() => [...document.querySelectorAll('main table[aria-rowcount]')].flatMap(table => {
  const box = table.parentElement, head = [...table.querySelectorAll('th')].filter(th => th.getClientRects().length > 0).at(-1)
  return [...(box.scrollWidth > box.clientWidth ? [`is ${box.scrollWidth - box.clientWidth} px wider than its place`] : []), ...(parseFloat(getComputedStyle(head).paddingRight) < 16 ? [`ends with ${head.innerText} at its edge`] : [])]
}))

paths.push(...['users', 'keys'].map(tab => `/operator?tab=${tab}`))

let empty = 0
for (const path of paths) {
  await visit(page, path)
  for (const [theme, width] of looks) {
    for (const v of await violations(page, theme, width)) wrong.push(`${path} ${theme} ${width}: ${v}`)
    const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
    if (wide) wrong.push(`${path} ${width}: is wider than the window`)
  }
  for (const state of await page.locator('main [data-empty]').filter({ visible: true }).all()) {
    empty++
    if (await state.locator('a, button, pre, code').count() === 0) wrong.push(`${path}: an empty list says no next step: ${await state.innerText()}`)
  }
  if (!process.env.EMPTY) {
    for (const width of [480, 720, 900, 1024, 1150, 1366]) { // widths at which columns appear and disappear
      await page.setViewportSize({ width, height: 900 })
      for (const t of await tight()) wrong.push(`${path} ${width}: the list ${t}`)
    }
  }
  await page.setViewportSize({ width: 1440, height: 900 })
}
if (!process.env.EMPTY) { // GraphiQL runs a query and reads the documentation with the session, within the policy of its page
  await page.goto(`${base}/explorer`)
  await page.getByLabel('Execute query (Ctrl-Enter)').click()
  await page.waitForFunction(() => document.querySelector('.result-window')?.innerText.includes('SEND'))
  await page.getByLabel('Show Documentation Explorer').click()
  await page.locator('.graphiql-doc-explorer').getByText('Query', { exact: true }).first().waitFor()
}
if (process.env.EMPTY) check(empty > 5, `lists are empty, except ${empty}`)
await browser.close()
nothing(wrong)
