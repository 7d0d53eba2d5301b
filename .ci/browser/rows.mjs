// Measures the first rows of the email list: `ms` from the HTML to the rows, `kilobytes` that were transferred until
// then, and the number of API requests that had been sent. The first load does not count, because it fetches the
// chunks. `enough` reports whether the measurements so far are sufficient.
import { base } from './dashboard.mjs'

export async function firstRows(page, enough) {
  await page.addInitScript(() => {
    new MutationObserver((_, self) => {
      if (!document.querySelector('tr[data-row]')) return
      window.rowsAt = performance.now()
      self.disconnect()
    }).observe(document, { childList: true, subtree: true })
  })
  const load = async () => {
    await page.goto(base + '/emails')
    await page.waitForFunction(() => window.rowsAt)
    return page.evaluate(() => {
      const [html] = performance.getEntriesByType('navigation')
      const loaded = performance.getEntriesByType('resource').filter(e => e.startTime < window.rowsAt)
      return {
        ms: Math.round(window.rowsAt - html.responseEnd),
        kilobytes: Math.round([html, ...loaded].reduce((sum, e) => sum + e.encodedBodySize, 0) / 1024),
        requests: loaded.filter(e => /\/(graphql|api)(\/|\?|$)/.test(new URL(e.name).pathname)).length,
      }
    })
  }
  await load()
  const measured = []
  while (!enough(measured)) measured.push(await load())
  return measured
}
