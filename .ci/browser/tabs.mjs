// Twelve tabs of one browser get live updates over one stream: an email appears in each of them, and in a tab that opens
// later. A browser allows six connections to a host, and each tab still makes requests.
import { check, nothing, open, watch } from './browser.mjs'
import { base, seen, send, signIn, visit } from './dashboard.mjs'

const { browser, context } = await open()
const wrong = watch(context, base)
let streams = 0
context.on('request', r => { if (r.headers().accept?.includes('event-stream')) streams++ })
await signIn(context)
const [first] = context.pages()
await visit(first, '/emails')
await first.getByText('Live', { exact: true }).waitFor()
const others = await Promise.all(Array.from({ length: 11 }, () => context.newPage()))
const tabs = [first, ...others]
for (const page of others) await visit(page, '/emails')
await Promise.all(tabs.map(page => page.getByText('Live', { exact: true }).waitFor()))

const subject = `In every tab ${Date.now()}`
await send({ subject })
await Promise.all(tabs.map(async page => {
  const news = page.getByRole('button', { name: /^Show \d+ new$/ })
  await seen(page, subject).or(news).first().waitFor()
  if (await news.isVisible()) await news.click()
  await seen(page, subject).first().waitFor()
}))

// The first tab, which can own the stream, closes. The others continue.
await first.close()
const later = `After the first ${Date.now()}`
await send({ subject: later })
await Promise.all(others.map(page => page.getByRole('button', { name: 'Show 1 new' }).or(seen(page, later)).first().waitFor()))
check(streams <= 1, `twelve tabs share one stream, and have ${streams}`)
await browser.close()
nothing(wrong)
