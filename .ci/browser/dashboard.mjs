// The dashboard as its users see it: an email that the API takes appears live; what went wrong stands
// there in the other server's words; hostile mail runs nothing; every screen of the menu is looked at by
// axe in both themes, wide and narrow, loads nothing from elsewhere and reports no error.
import { check, open, violations } from './browser.mjs'

const base = new URL(process.env.LINK).origin
const { browser, context, page } = await open()

const wrong = []
const elsewhere = url => !url.startsWith(base + '/') && !/^(data|blob|about):/.test(url)
// What the policy stops does not leave.
context.on('requestfailed', r => elsewhere(r.url()) && r.failure()?.errorText !== 'csp' && wrong.push(`a request left the machine: ${r.url()} ${r.failure()?.errorText}`))
context.on('response', r => elsewhere(r.url()) && wrong.push(`a request left the machine: ${r.url()}`))
let hostileMail = false // which the policy stops, and says so
page.on('console', m => m.type() === 'error' && !hostileMail && wrong.push(`the console says ${m.text()}`))
page.on('pageerror', e => wrong.push(`a script failed: ${e}`))
page.on('dialog', d => { wrong.push(`a stranger's script ran: ${d.message()}`); d.dismiss() })

const send = async fields => {
  const answer = await fetch(`${base}/api/emails`, {
    method: 'POST', headers: { Authorization: `Bearer ${process.env.KEY}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ from: 'ada@dev.test', subject: 'Hello', text: 'Hello', ...fields }),
  })
  check(answer.ok, `the API takes an email (${answer.status})`)
  return (await answer.json()).id
}

const seen = text => page.getByText(text).filter({ visible: true }) // narrow pages have texts that wide ones hide
// The stream of events is open always, so the network is never idle.
const settled = () => page.waitForFunction(() => document.querySelector('main') && !document.querySelector('[aria-busy=true], .skeleton'))

// 1. In by the link, and live.
await page.goto(process.env.LINK)
await page.waitForURL(base + '/')
await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Emails' }).click()
await page.getByRole('heading', { name: 'Emails', level: 1 }).waitFor()
await page.getByText('Live', { exact: true }).waitFor()
const subject = `Live ${Date.now()}`
await send({ to: `bob@${process.env.DOMAIN}`, subject })
await seen(subject).or(page.getByRole('button', { name: /new: show/ })).first().waitFor()
const news = page.getByRole('button', { name: /new: show/ })
if (await news.isVisible()) await news.click()
await seen(subject).first().waitFor()

// 2. What went wrong, in the words of the other server.
const refused = await send({ to: process.env.REFUSED, subject: 'To nobody' })
await page.goto(`${base}/emails/${refused}`)
await seen(process.env.WORDS).first().waitFor()
await seen('Bounced').first().waitFor()

// 3. Hostile mail.
const script = '<img src=x onerror=alert(1)><script>alert(2)</script><svg onload=alert(3)><a href="javascript:alert(4)">x</a><iframe srcdoc="<script>alert(5)</script>"></iframe><style>@import "http://evil.example/a.css"</style><img src="http://evil.example/pixel.png"><link rel=stylesheet href="http://evil.example/b.css"><meta http-equiv=refresh content="0;url=http://evil.example/">'
const hostile = await send({ to: `"<img src=x onerror=alert(6)>" <bob@${process.env.DOMAIN}>`, subject: '"><script>alert(7)</script>', html: script, tags: [{ name: 'a', value: 'b' }] })
hostileMail = true
await page.goto(`${base}/emails/${hostile}`)
await seen('"><script>alert(7)</script>').first().waitFor()
await settled()
const frame = page.frameLocator('iframe').first()
await frame.locator('body').waitFor()
check(await page.locator('iframe').first().getAttribute('sandbox') === '', 'mail is shown in a frame that may do nothing')
await page.goto(base + '/')
await settled()
hostileMail = false

// 4. Filters stand in the URL.
await page.goto(`${base}/emails?q=is%3Abounced`)
await seen('To nobody').first().waitFor()
check(await seen(subject).count() === 0, 'a filter of the URL narrows the list')

// 5. Every screen of the menu.
const menu = page.getByRole('navigation', { name: 'Main' }).getByRole('link')
const paths = await menu.evaluateAll(links => links.map(a => new URL(a.href).pathname))
check(paths.length > 5, `the menu has screens, and not only ${paths}`)
for (const path of [...paths, `/emails/${refused}`]) {
  await page.goto(base + path)
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await settled()
  for (const theme of ['light', 'dark'])
    for (const width of [1440, 390]) {
      for (const v of await violations(page, theme, width)) wrong.push(`${path} ${theme} ${width}: ${v}`)
      const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
      if (wide) wrong.push(`${path} ${width}: is wider than the window`)
    }
  await page.setViewportSize({ width: 1440, height: 900 })
}
await browser.close()
check(wrong.length === 0, 'nothing is wrong:\n' + [...new Set(wrong)].join('\n'))
