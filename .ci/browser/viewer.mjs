// A user with the role viewer (EMAIL, PASSWORD) opens every screen and presses every button: nothing writes, no
// response is 403, and no form for a change opens. Changes to the user's own profile stay allowed. The owner
// (OWNER_EMAIL, OWNER_PASSWORD) does the same on one screen, where all of these are detected.
import { check, nothing, open, watch } from './browser.mjs'
import { base, pathsOf, settled, signIn, visit } from './dashboard.mjs'
import { pagesOf, seed } from './seed.mjs'

const own = ['/profile', '/playground'] // the own profile, and requests with an own key
const apart = /^(Leave this account|Copy\b)/ // every user can leave
const ids = await seed()

// walker returns a page on which every button can be pressed, and the findings.
async function walker(email, password) {
  const { browser, context, page } = await open({ viewport: { width: 1440, height: 900 } })
  const wrong = watch(context, base, (text, url) => url.endsWith('/tracking-host') && text.includes('404')) // the host does not exist
  const at = () => new URL(page.url()).pathname
  let last = ''
  context.on('request', r => {
    const asked = new URL(r.url())
    if (asked.pathname.startsWith('/api/') && r.method() !== 'GET' && !/\/render$/.test(asked.pathname)) wrong.push(`${at()}: "${last}" writes: ${r.method()} ${asked.pathname}`)
    if (asked.pathname === '/graphql' && /mutation/.test(r.postData() ?? '')) wrong.push(`${at()}: "${last}" writes by GraphQL`)
  })
  context.on('response', r => r.status() === 403 && wrong.push(`${at()}: ${r.request().method()} ${new URL(r.url()).pathname} is answered 403`))
  await signIn(context, email, password)
  await visit(page, '/')

  // press presses each button with a distinct name once, then the buttons that this reveals.
  const press = async path => {
    await visit(page, path)
    const done = new Set()
    for (let rounds = 0; rounds < 80; rounds++) {
      const next = await page.evaluate(([known, left]) => {
        const all = document.querySelectorAll('main button, main [role=tab], [role=menu] [role=menuitem], main input[type=checkbox], main .btn')
        for (const e of all) {
          const name = (e.getAttribute('aria-label') || e.labels?.[0]?.innerText || e.innerText || '').replace(/\s+/g, ' ').trim()
          const kind = name.replace(/\S*[\d@.]\S*/g, '#') // all rows are alike
          if (!e.checkVisibility() || e.disabled || known.includes(kind)) continue
          const pressed = e.tagName !== 'A' && !new RegExp(left).test(name)
          if (pressed) e.click() // immediately, because lists can re-render at any time
          return { name, kind, pressed }
        }
        return null
      }, [[...done], apart.source])
      if (!next) break
      done.add(next.kind)
      if (!next.pressed) continue
      last = next.name
      await settled(page)
      const form = await page.evaluate(() => [...document.querySelectorAll('dialog[open]')].find(d => d.querySelector('form, .btn.primary, .btn.danger'))?.innerText.slice(0, 60))
      if (form) wrong.push(`${path}: "${next.name}" opens a form: ${form}`)
      if (await page.evaluate(() => !!document.querySelector('dialog[open]'))) await page.keyboard.press('Escape')
      if (at() !== path) await visit(page, path)
    }
    return done.size
  }
  return { browser, page, wrong, press }
}

const owner = await walker(process.env.OWNER_EMAIL, process.env.OWNER_PASSWORD)
await owner.press('/webhooks')
check(owner.wrong.some(w => w.includes('opens a form')), `an owner sees how to add an endpoint: ${owner.wrong}`)
await owner.browser.close()

const viewer = await walker(process.env.EMAIL, process.env.PASSWORD)
const paths = await pathsOf(viewer.page)
check(paths.length > 10 && !paths.includes('/keys') && !paths.includes('/operator'), `a viewer's menu has screens to read and no others: ${paths}`)
let pressed = 0
for (const path of [...paths, '/received/rules', ...pagesOf(ids)]) {
  if (own.includes(path)) await visit(viewer.page, path)
  else pressed += await viewer.press(path)
}
check(pressed > 60, `there are controls, and not ${pressed} things`)
for (const path of ['/keys', '/audit-log', '/settings/billing', '/operator']) {
  await viewer.page.goto(base + path)
  await viewer.page.getByRole('heading', { level: 1 }).waitFor()
}
await viewer.browser.close()
nothing(viewer.wrong)
