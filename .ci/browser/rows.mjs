// How long after its HTML the first rows of the list of emails are there, in milliseconds. A load counts from the second
// on: the first one brings the parts. `enough` tells, of what was measured, whether that will do.
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
