// Opens Chromium for the tests of pages and tells what they found. Settings come by the environment:
// CHROMIUM (the program), SHOTS (a folder for screenshots; empty: none are made).
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { chromium } from 'playwright-core'

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

// patience is how long a page has, in milliseconds: the machine may do a lot besides.
export const patience = 120_000

// open gives a browser; `hosts` says where others are found, as "evil.example 127.0.0.1:8000".
export async function open({ hosts, ...options } = {}) {
  const rules = hosts ? [`--host-resolver-rules=MAP ${hosts}`] : []
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage', ...rules] })
  const context = await browser.newContext({ viewport: { width: 1000, height: 800 }, ...options })
  context.setDefaultTimeout(patience)
  return { browser, context, page: await context.newPage() }
}

export function check(holds, what) {
  if (!holds) throw new Error(`it is not so that ${what}`)
}

// watch notes what must not happen on any page of a context: requests to elsewhere, words in the console,
// scripts that fail, scripts of strangers. `expected` is told
// words and URL of a message of the console, and tells whether it belongs there. That the service was away for a moment does: a machine
// that stands still lets the time of a request pass, and the page asks again.
export function watch(context, base, expected = () => false) {
  const wrong = []
  const elsewhere = url => !url.startsWith(base + '/') && !/^(data|blob|about):/.test(url)
  // What the policy stops does not leave.
  context.on('requestfailed', r => elsewhere(r.url()) && r.failure()?.errorText !== 'csp' && wrong.push(`a request left the machine: ${r.url()} ${r.failure()?.errorText}`))
  context.on('response', r => elsewhere(r.url()) && wrong.push(`a request left the machine: ${r.url()}`))
  context.on('console', m => m.type() === 'error' && !/status of 503/.test(m.text()) && !expected(m.text(), m.location().url) && wrong.push(`${pathOf(m.page())}: the console says ${m.text()} ${m.location().url}`))
  context.on('weberror', e => wrong.push(`${pathOf(e.page())}: a script failed: ${e.error()}`))
  context.on('dialog', d => { wrong.push(`${pathOf(d.page())}: a stranger's script ran: ${d.message()}`); void d.dismiss() })
  return wrong
}

const pathOf = page => (page ? new URL(page.url()).pathname : '')

// nothing fails with what is wrong, each thing once.
export function nothing(wrong) {
  check(wrong.length === 0, 'nothing is wrong:\n' + [...new Set(wrong)].join('\n'))
}

// violations tells what axe finds wrong with the page, in one theme at one width.
export async function violations(page, colorScheme, width) {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' }) // colours are looked at when they have changed
  await page.setViewportSize({ width, height: 900 })
  if (process.env.SHOTS && !process.env.IDS) { // those with IDS, pictures.mjs takes
    const name = new URL(page.url()).pathname.replaceAll('/', '-').slice(1)
    await page.screenshot({ path: `${process.env.SHOTS}/${name}-${colorScheme}-${width}.png`, fullPage: true })
  }
  if (!await page.evaluate(() => 'axe' in window)) await page.evaluate(await readFile(axe, 'utf8')) // the page's policy refuses script elements
  const found = await page.evaluate(() => window.axe.run({ resultTypes: ['violations'] }))
  return found.violations.map(v => `${v.id}: ${v.help} (${v.nodes.map(n => n.target.join(' ')).join(', ')})`)
}
