// After signing in with the development link, an email that the API accepts appears live. Failures show the reply of
// the remote server. Filters are part of the URL. The first rows load quickly.
import { check, nothing, open, watch } from './browser.mjs'
import { base, menuOf, seen, send, visit } from './dashboard.mjs'
import { firstRows } from './rows.mjs'

const { browser, context, page } = await open()
const wrong = watch(context, base)

// 1. Sign-in with the link, and live updates.
await page.goto(process.env.LINK)
await page.waitForURL(base + '/')
await menuOf(page).filter({ hasText: 'Emails' }).click()
await page.getByRole('heading', { name: 'Emails', level: 1 }).waitFor()
await page.getByText('Live', { exact: true }).waitFor()
const subject = `Live ${Date.now()}`
await send({ to: `bob@${process.env.DOMAIN}`, subject })
const news = page.getByRole('button', { name: /^Show \d+ new$/ })
await seen(page, subject).or(news).first().waitFor()
if (await news.isVisible()) await news.click()
await seen(page, subject).first().waitFor()

// 2. Failures, with the reply of the remote server.
const refused = await send({ to: process.env.REFUSED, subject: 'To an unknown mailbox' })
await visit(page, `/emails/${refused}`)
await seen(page, process.env.WORDS).first().waitFor()
await seen(page, 'Bounced').first().waitFor()

// 3. Filters in the URL.
await visit(page, '/emails?q=is%3Abounced')
await seen(page, 'To an unknown mailbox').first().waitFor()
check(await seen(page, subject).count() === 0, 'a filter of the URL narrows the list')

// 4. The first rows of a short list load quickly: with the HTML and its links, without a request to the API. On a busy
// machine, one of several loads must be fast. scroll.mjs, which runs alone, limits a long list to 300 ms.
const within = 3000, most = 150 // ms, KB
for (let i = 0; i < 8; i++) await send({ to: `bob@${process.env.DOMAIN}`, subject: `One of ten ${i}` })
const isFast = m => m.ms <= within && m.kilobytes <= most && m.requests === 0
const first = await firstRows(page, all => all.some(isFast) || all.length === 12)
check(first.some(isFast), `the first rows appear within ${within} ms after the HTML, with ${most} KB and no request: ${JSON.stringify(first)}`)
await browser.close()
nothing(wrong)
