// Opens Chromium for the page tests and reports their findings. Settings are in the environment:
// CHROMIUM (the program), SHOTS (a folder for screenshots; without it, none are taken).
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { chromium } from 'playwright-core'

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

// pageTimeout is the timeout of page actions, in milliseconds. It is long, because the machine can be busy.
export const pageTimeout = 120_000

// open returns a browser. `hosts` maps other host names, for example "evil.example 127.0.0.1:8000".
export async function open({ hosts, ...options } = {}) {
  const rules = hosts ? [`--host-resolver-rules=MAP ${hosts}`] : []
  // An emulated GPU costs more CPU than rendering without one.
  const args = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', ...rules]
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args })
  const context = await browser.newContext({ viewport: { width: 1000, height: 800 }, ...options })
  context.setDefaultTimeout(pageTimeout)
  return { browser, context, page: await context.newPage() }
}

export function check(holds, what) {
  if (!holds) throw new Error(`it is not so that ${what}`)
}

// watch records everything that must not happen on any page of a context: requests to other hosts, console
// messages, script errors, injected scripts. `expected` gets the text and the URL of a console message and reports
// whether it is acceptable. A short outage is: on a stalled machine a request can time out, and the page retries.
export function watch(context, base, expected = () => false) {
  const wrong = []
  const elsewhere = url => !url.startsWith(base + '/') && !/^(data|blob|about):/.test(url)
  // Requests that the policy blocks never leave the browser.
  context.on('requestfailed', r => elsewhere(r.url()) && r.failure()?.errorText !== 'csp' && wrong.push(`a request left the machine: ${r.url()} ${r.failure()?.errorText}`))
  context.on('response', r => elsewhere(r.url()) && wrong.push(`a request left the machine: ${r.url()}`))
  context.on('console', m => m.type() === 'error' && !/status of 503/.test(m.text()) && !expected(m.text(), m.location().url) && wrong.push(`${pathOf(m.page())}: the console says ${m.text()} ${m.location().url}`))
  context.on('weberror', e => wrong.push(`${pathOf(e.page())}: a script failed: ${e.error()}`))
  context.on('dialog', d => { wrong.push(`${pathOf(d.page())}: a stranger's script ran: ${d.message()}`); void d.dismiss() })
  return wrong
}

const pathOf = page => (page ? new URL(page.url()).pathname : '')

// nothing fails with the list of problems, without duplicates.
export function nothing(wrong) {
  check(wrong.length === 0, 'nothing is wrong:\n' + [...new Set(wrong)].join('\n'))
}

// violations returns the problems that axe finds on the page, in one theme at one width.
export async function violations(page, colorScheme, width) {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' }) // wait for the final colors
  await page.setViewportSize({ width, height: 900 })
  if (process.env.SHOTS && !process.env.IDS) { // with IDS, pictures.mjs takes them
    const name = new URL(page.url()).pathname.replaceAll('/', '-').slice(1)
    await page.screenshot({ path: `${process.env.SHOTS}/${name}-${colorScheme}-${width}.png`, fullPage: true })
  }
  if (!await page.evaluate(() => 'axe' in window)) await page.evaluate(await readFile(axe, 'utf8')) // the page's policy forbids script elements
  const found = await page.evaluate(() => window.axe.run({ resultTypes: ['violations'] }))
  return found.violations.map(v => `${v.id}: ${v.help} (${v.nodes.map(n => n.target.join(' ')).join(', ')})`)
}
