// Mail of strangers runs nothing and fetches nothing where the dashboard shows it.
import { check, nothing, open, watch } from './browser.mjs'
import { base, seen, send, settled, signIn, visit } from './dashboard.mjs'

const { browser, context, page } = await open()
let hostileMail = false // which the policy stops, and says so
const wrong = watch(context, base, () => hostileMail)
await signIn(context)
const script = '<img src=x onerror=alert(1)><script>alert(2)</script><svg onload=alert(3)><a href="javascript:alert(4)">x</a><iframe srcdoc="<script>alert(5)</script>"></iframe><style>@import "http://evil.example/a.css"</style><img src="http://evil.example/pixel.png"><link rel=stylesheet href="http://evil.example/b.css"><meta http-equiv=refresh content="0;url=http://evil.example/">'
const hostile = await send({ to: `"<img src=x onerror=alert(6)>" <bob@${process.env.DOMAIN}>`, subject: '"><script>alert(7)</script>', html: script, tags: [{ name: 'a', value: 'b' }] })
hostileMail = true
await visit(page, `/emails/${hostile}`)
await seen(page, '"><script>alert(7)</script>').first().waitFor()
await settled(page)
await page.frameLocator('iframe').first().locator('body').waitFor()
check(await page.locator('iframe').first().getAttribute('sandbox') === '', 'mail is shown in a frame that may do nothing')
await visit(page, '/')
await browser.close()
nothing(wrong)
