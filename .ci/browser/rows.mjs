// Measures the time from the HTML to the first rows of the email list, in milliseconds. The first load does not count,
// because it fetches the chunks. `enough` reports whether the measurements so far are sufficient.
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
    return page.evaluate(() => Math.round(window.rowsAt - performance.getEntriesByType('navigation')[0].responseEnd))
  }
  await load()
  const measured = []
  while (!enough(measured)) measured.push(await load())
  return measured
}
