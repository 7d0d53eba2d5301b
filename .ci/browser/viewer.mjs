// Somebody with the role viewer (EMAIL, PASSWORD) looks at every screen and presses what is offered there:
// nothing writes, nothing is answered 403, no form for a change opens. What a person may do to themselves
// stays theirs. The owner (OWNER_EMAIL, OWNER_PASSWORD) does the same on one screen, where all of it is found.
import { check, nothing, open, watch } from './browser.mjs'
import { base, pathsOf, settled, signIn, visit } from './dashboard.mjs'
import { pagesOf, seed } from './seed.mjs'

const own = ['/profile', '/playground'] // about oneself, and on a key that one brings
const apart = /^(Leave this account|Copy\b)/ // leaving is everybody's right
const ids = await seed()

// walker gives a page on which somebody may press everything, and what was found there.
async function walker(email, password) {
  const { browser, context, page } = await open({ viewport: { width: 1440, height: 900 } })
  const wrong = watch(context, base, (text, url) => url.endsWith('/tracking-host') && text.includes('404')) // there is none
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

  // press presses each thing of a name once, then what that has brought.
  const press = async path => {
    await visit(page, path)
    const done = new Set()
    for (let rounds = 0; rounds < 80; rounds++) {
      const next = await page.evaluate(([known, left]) => {
        const all = document.querySelectorAll('main button, main [role=tab], [role=menu] [role=menuitem], main input[type=checkbox], main .btn')
        for (const e of all) {
          const name = (e.getAttribute('aria-label') || e.labels?.[0]?.innerText || e.innerText || '').replace(/\s+/g, ' ').trim()
          const kind = name.replace(/\S*[\d@.]\S*/g, '#') // rows are alike
          if (!e.checkVisibility() || e.disabled || known.includes(kind)) continue
          const pressed = e.tagName !== 'A' && !new RegExp(left).test(name)
          if (pressed) e.click() // at once: lists are drawn anew at any time
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
check(owner.wrong.some(w => w.includes('opens a form')), `an owner finds how to add an endpoint: ${owner.wrong}`)
await owner.browser.close()

const viewer = await walker(process.env.EMAIL, process.env.PASSWORD)
const paths = await pathsOf(viewer.page)
check(paths.length > 10 && !paths.includes('/keys') && !paths.includes('/operator'), `a viewer's menu has screens to read and no others: ${paths}`)
let pressed = 0
for (const path of [...paths, '/received/rules', ...pagesOf(ids)]) {
  if (own.includes(path)) await visit(viewer.page, path)
  else pressed += await viewer.press(path)
}
check(pressed > 60, `there is something to press, and not ${pressed} things`)
for (const path of ['/keys', '/audit-log', '/settings/billing', '/operator']) {
  await viewer.page.goto(base + path)
  await viewer.page.getByRole('heading', { level: 1 }).waitFor()
}
await viewer.browser.close()
nothing(viewer.wrong)
