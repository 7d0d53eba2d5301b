// The API reference loads the parts that it shows, finds words in all of them, and can be read without its script.
import { check, nothing, open, violations, watch } from './browser.mjs'

const base = process.env.BASE
const { browser, context, page } = await open()
const wrong = watch(context, base)
const parts = []
page.on('request', r => { const part = /\/api\/docs\/([a-z-]+)$/.exec(r.url()); if (part) parts.push(part[1]) })

// 1. The first page loads few parts.
await page.goto(base + '/api/docs')
await page.getByRole('heading', { name: 'Send a first email' }).waitFor()
const all = await page.locator('.part').count()
check(all > 20, `the reference has many parts: ${all}`)
check(parts.length <= 4, `the first page loads only what it shows: ${parts}`)

// 2. A link to an operation, and one to a shape within it, show their part.
await page.locator('nav a', { hasText: 'Send an email' }).first().click()
await page.locator('#sendEmail').getByRole('heading').waitFor()
await page.waitForFunction(() => Math.abs(document.querySelector('#sendEmail').getBoundingClientRect().top) < 300)
check(new URL(page.url()).hash === '#sendEmail', 'the URL names the operation')
await page.locator('#sendEmail').getByRole('link', { name: 'SendEmail' }).click()
await page.locator('#schema-SendEmail').getByRole('heading').waitFor()
await page.goBack()
await page.waitForFunction(() => Math.abs(document.querySelector('#sendEmail').getBoundingClientRect().top) < 300)
check(parts.length < all, 'parts that were not shown are not loaded')
check(new Set(parts).size === parts.length, `each part is loaded once: ${parts}`)

// 3. The language of samples applies to parts that are loaded later.
await page.locator('#sendEmail').getByRole('button', { name: 'Go', exact: true }).click()
await page.goto(base + '/api/docs#addTemplate')
await page.locator('#addTemplate').getByRole('heading').waitFor()
check(await page.locator('#addTemplate .sample:visible').count() === 1, 'an operation shows one sample')

// 4. The search loads the other parts.
await page.getByLabel('Search').fill('rotate secret whsec_')
await page.getByText(/^[1-9]\d* found$/).waitFor()
check(new Set(parts).size === all, `the search loads every part: ${new Set(parts).size} of ${all}`)
check(await page.locator('#rotateWebhookSecret').isVisible(), 'the search shows the operation')
check(!await page.locator('#addTemplate').isVisible(), 'the search hides other operations')
nothing(await violations(page, 'light', 1000))

// 5. Without the script, the contents lead to the page of a part.
const plain = await browser.newContext({ javaScriptEnabled: false })
const reader = await plain.newPage()
await reader.goto(base + '/api/docs')
await reader.locator('nav a', { hasText: 'Send an email' }).first().click()
await reader.waitForURL(base + '/api/docs/emails#sendEmail')
await reader.locator('#sendEmail').getByRole('link', { name: 'SendEmail' }).click()
await reader.waitForURL(base + '/api/docs/shapes-s#schema-SendEmail')
await reader.getByRole('link', { name: 'API reference' }).click()
await reader.waitForURL(base + '/api/docs#shapes-s')
await browser.close()
nothing(wrong)
