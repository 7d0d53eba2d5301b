// Opens Chromium for the tests of pages and tells what they found. Settings come by the environment:
// CHROMIUM (the program), SHOTS (a folder for screenshots; empty: none are made).
import { createRequire } from 'node:module'
import { chromium } from 'playwright-core'

const axe = createRequire(import.meta.url).resolve('axe-core')

export async function open(options = {}) {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
  const context = await browser.newContext({ viewport: { width: 1000, height: 800 }, ...options })
  context.setDefaultTimeout(20_000)
  return { browser, context, page: await context.newPage() }
}

export function check(holds, what) {
  if (!holds) throw new Error(`it is not so that ${what}`)
}

// violations tells what axe finds wrong with the page, in one theme at one width.
export async function violations(page, colorScheme, width) {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' }) // colours are looked at when they have changed
  await page.setViewportSize({ width, height: 900 })
  if (process.env.SHOTS) {
    const name = new URL(page.url()).pathname.replaceAll('/', '-').slice(1)
    await page.screenshot({ path: `${process.env.SHOTS}/${name}-${colorScheme}-${width}.png`, fullPage: true })
  }
  const source = await (await import('node:fs/promises')).readFile(axe, 'utf8')
  await page.evaluate(source) // the page's policy refuses script elements
  const found = await page.evaluate(() => window.axe.run({ resultTypes: ['violations'] }))
  return found.violations.map(v => `${v.id}: ${v.help} (${v.nodes.map(n => n.target.join(' ')).join(', ')})`)
}
