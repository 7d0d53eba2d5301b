// A very long list of emails: the time from the HTML to the first rows, and whether a task blocks the page while
// thousands of rows scroll by. Tasks are measured in CPU time of their thread, so that other load does not count. The
// script prints its measurements. SCROLL is the number of rows to scroll through.
import { check, nothing, open, watch } from './browser.mjs'
import { base, pathsOf, signIn, visit } from './dashboard.mjs'
import { firstRows } from './rows.mjs'

const far = Number(process.env.SCROLL ?? 3000)
const firstWithin = 300, longest = 50, screenWithin = 3000 // ms
const { browser, context, page } = await open({ viewport: { width: 1440, height: 900 } })
const wrong = watch(context, base)
await signIn(context)
const first = await firstRows(page, all => all.length === 7)
const median = first.map(m => m.ms).toSorted((a, b) => a - b)[3]

await browser.startTracing(page, { categories: ['toplevel', 'blink.user_timing'] })
const began = Date.now()
const seen = await page.evaluate(far => new Promise(resolve => {
  const box = document.querySelector('table[aria-label=Emails]').parentElement
  const start = performance.now()
  let last = 0
  const step = () => {
    if (performance.now() - start > 60_000) return resolve(last)
    last = Number([...document.querySelectorAll('tr[data-row]')].at(-1)?.getAttribute('aria-rowindex') ?? last)
    if (last >= far) return resolve(last)
    box.scrollTop += 400
    requestAnimationFrame(step)
  }
  step()
}), far)
const took = Date.now() - began
const { traceEvents } = JSON.parse((await browser.stopTracing()).toString())
const main = new Set(traceEvents.filter(e => e.name === 'thread_name' && e.args.name === 'CrRendererMain').map(e => `${e.pid} ${e.tid}`))
const tasks = traceEvents.filter(e => e.name === 'ThreadControllerImpl::RunTask' && main.has(`${e.pid} ${e.tid}`) && e.tdur !== undefined).map(e => Math.round(e.tdur / 1000))
const long = tasks.filter(ms => ms > longest)

// The number of emails does not slow down other screens.
const screens = {}
await visit(page, '/')
for (const path of await pathsOf(page)) {
  const from = Date.now()
  await visit(page, path)
  screens[path] = Date.now() - from
}
await browser.close()
const slow = Object.entries(screens).filter(([, ms]) => ms > screenWithin)
console.log(JSON.stringify({ firstRows: first, scrolledRows: seen, scrolledForMs: took, tasks: tasks.length, longestTaskMs: Math.max(...tasks), screensMs: screens }))
check(seen >= far, `${far} rows can be scrolled: ${seen}`)
check(median <= firstWithin, `the first rows appear within ${firstWithin} ms after the HTML: ${JSON.stringify(first)}`)
check(tasks.length > 100 && long.length === 0, `no task takes over ${longest} ms while rows are scrolled: ${long}`)
check(slow.length === 0, `every screen appears within ${screenWithin} ms: ${slow}`)
nothing(wrong)
