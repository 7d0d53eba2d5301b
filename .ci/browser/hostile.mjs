// Hostile input must not run or fetch anything in the dashboard: in every field that outside parties control, in
// lists, in sheets, on pages and in previews. MX is the mail server for hostile.test, INBOUND the address at which
// the service receives mail.
import { check, nothing, open, watch } from './browser.mjs'
import { api, base, settled, signIn, until, visit } from './dashboard.mjs'
import { ascii, line, payloads } from './payloads.mjs'
import { bring, mailServer, website } from './peers.mjs'

const indexOf = address => Number(/^p(\d+)@/.exec(address)?.[1] ?? -1)
const taken = await mailServer(process.env.MX, to => indexOf(to) >= 0 ? `550 5.1.1 ${line(payloads[indexOf(to)])}` : undefined)
const endpoint = await website(answer => answer.writeHead(500, { 'Content-Type': 'text/html' }).end(payloads.join('\n')))
const evil = await website(answer => answer.writeHead(200, { 'Access-Control-Allow-Origin': '*' }).end())
const file = i => ({ filename: `${line(payloads[i])}.txt`, content: 'aGVsbG8=' })
const base64 = text => Buffer.from(text).toString('base64')
const word = text => `=?utf-8?b?${base64(text)}?=`

// 1. Write the payloads.
const { webhook } = await api('POST', '/webhooks', { url: `http://127.0.0.1:${endpoint.port}/hook`, events: ['email.bounced'] })
const { domains } = await api('GET', '/domains')
await api('PATCH', `/domains/${domains[0].id}`, { open_tracking: true })
const named = (email, i) => ({ email, name: line(payloads[i]).replace(/[\u202a-\u202e]/g, '') })
const mails = payloads.map((p, i) => ({
  from: named('ada@dev.test', i), to: named(`p${i}@hostile.test`, i), subject: line(p), html: p, text: p, headers: { 'X-Strange': line(p) },
}))
const { data } = await api('POST', '/emails/batch', { emails: mails })
check(data.every(d => d.id), `the API accepts all of it: ${JSON.stringify(data.find(d => !d.id))}`)
const whole = (await api('POST', '/emails', {
  from: 'ada@dev.test', to: 'reader@hostile.test', subject: 'All of it', html: '<p>Hello</p>', text: payloads.join('\n'),
  headers: Object.fromEntries(payloads.slice(0, 25).map((p, i) => [`X-Strange-${i}`, line(p)])), attachments: payloads.slice(20, 30).map((_, i) => file(20 + i)),
})).id
const templates = []
for (const p of payloads.filter(p => !p.includes('{{') && !p.includes('{%'))) templates.push((await api('POST', '/templates', { name: line(p), subject: line(p), html: p, text: p })).template.id)
const { automation } = await api('POST', '/automations', { name: line(payloads[0]), description: payloads.join('\n'), trigger: { event: 'strange' }, steps: [{ key: 'wait', type: 'delay', duration: 'P1D' }] })
await api('POST', `/automations/${automation.id}`, { action: 'activate' })
const { event } = await api('POST', '/events', { name: 'strange', user_id: line(payloads[8]), data: Object.fromEntries(payloads.map((p, i) => [`${i} ${p}`.slice(0, 60), p])) })
await bring(process.env.INBOUND, 'support@dev.test', payloads.map((p, i) => [
  `From: ${word(line(p))} <stranger@example.net>`, `To: ${word(line(p))} <support@dev.test>`, `Subject: ${word(line(p))}`, `Message-ID: <${i}.${Date.now()}@example.net>`, `X-Strange: ${ascii(p)}`, 'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary=b', '', '--b', 'Content-Type: text/html; charset=utf-8', 'Content-Transfer-Encoding: base64', '', base64(p), '--b', 'Content-Type: text/html; charset=utf-8',
  `Content-Disposition: attachment; filename="${word(`${line(p)}.html`)}"`, 'Content-Transfer-Encoding: base64', '', base64(p), '--b--', '',
].join('\n')))
const message = (await until('mail is accepted', () => taken.get('reader@hostile.test'))).replace(/=\n/g, '').replaceAll('=3D', '=')
const [pixel] = /http[^"]*\/t\/o\/[^"]*/.exec(message) ?? check(false, 'a tracked email has a pixel')
for (const p of payloads.slice(0, 20)) await fetch(pixel.replace(/^https?:\/\/[^/]*/, base), { headers: { 'User-Agent': ascii(p) } })
const emails = await until('all are rejected', async () => {
  const list = (await api('GET', '/emails?limit=100')).emails.filter(e => ['bounced', 'failed'].includes(e.status))
  return list.length >= payloads.length && list
})
const { received_emails: received } = await until('mail is received', async () => {
  const list = await api('GET', '/received-emails?limit=100')
  return list.received_emails.length >= payloads.length && list
})

// 2. Read them.
const { browser, context, page } = await open({ hosts: `evil.example 127.0.0.1:${evil.port}`, viewport: { width: 1440, height: 900 } })
const wrong = watch(context, base, text => /Content Security Policy|sandboxed/.test(text)) // messages about blocked content are expected
await signIn(context)
context.on('page', p => wrong.push(`${page.url()} opened ${p.url()}`))

async function look() {
  await settled(page)
  const found = await page.evaluate(origin => {
    const all = [...document.querySelectorAll('*')]
    const strange = all.filter(e => [...e.attributes].some(a => /^on/i.test(a.name) || (/^(href|src|action|formaction|xlink:href)$/.test(a.name) && /^\s*(javascript|data:text|vbscript)/i.test(a.value))))
    const others = all.filter(e => /^(script|link|base|object|embed|img|video|audio)$/i.test(e.localName) && (e.src || e.href || e.data) && !(e.src || e.href || e.data).startsWith(`${origin}/`))
    const frames = all.filter(e => e.localName === 'iframe' && e.getAttribute('sandbox') !== '')
    return [...strange, ...others, ...frames].map(e => e.outerHTML.slice(0, 200))
  }, base)
  for (const html of found) wrong.push(`${page.url()}: there is ${html}`)
  check(page.url().startsWith(`${base}/`), `the page does not navigate, and is at ${page.url()}`)
}
// through opens each row of a list in its sheet, by keyboard. Each sheet has a preview.
async function through(path, first, n) {
  const shown = () => page.waitForResponse(r => r.url() === `${base}/preview`)
  await Promise.all([shown(), visit(page, `${path}?open=${first}`)])
  for (let i = 1; i < n; i++) {
    await look()
    await Promise.all([shown(), page.keyboard.press('j')])
  }
}
async function tabsOf(path) {
  await visit(page, path)
  const tabs = page.locator('main [role=tab]')
  for (let i = 0; i < await tabs.count(); i++) {
    await tabs.nth(i).click()
    await look()
  }
}
await through('/emails', whole, payloads.length + 1)
await through('/received', received[0].id, process.env.POSTRIDER_UI_LONG ? payloads.length : 16) // previews work as for sent mail
for (const id of [whole, ...emails.filter((_, i) => i % 22 === 0).map(e => e.id)]) await tabsOf(`/emails/${id}`)
await tabsOf(`/received/${received[20].id}`)
for (const i of [0, 20, 40]) await tabsOf(`/templates/${templates[i]}`)
const deliveries = (await api('GET', `/webhooks/${webhook.id}/deliveries`)).deliveries
for (const path of ['/', '/templates', '/automations', `/automations/${automation.id}`, '/events', `/events?open=${event.id}`, `/events/${event.id}`, '/suppressions', '/queue', '/statistics', '/requests', `/webhooks/${webhook.id}?open=${deliveries[0].id}`, '/inbox', '/audit-log']) {
  await visit(page, path)
  await look()
}
// Long words without a line break opportunity stay within a narrow page.
const long = n => 'w'.repeat(n)
const longEvent = (await api('POST', '/events', { name: long(200), user_id: long(255), data: { [long(90)]: long(2000) } })).event.id
const longEmail = (await api('POST', '/emails', { from: 'ada@dev.test', to: Array.from({ length: 50 }, (_, i) => `${long(40)}${i}@hostile.test`), subject: long(300), text: long(2000), tags: { [long(100)]: long(200) } })).id
await page.setViewportSize({ width: 390, height: 900 })
for (const path of [`/events/${longEvent}`, `/emails/${longEmail}`]) {
  await visit(page, path)
  const beyond = await page.evaluate(() => [...document.querySelectorAll('main dd *, main p')].filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 80)))
  check(beyond.length === 0, `${path}fits into a narrow page, except ${beyond[0]}`)
}
await page.setViewportSize({ width: 1440, height: 900 })
await page.keyboard.press('Control+k')
await page.getByRole('dialog', { name: 'Search or jump to' }).waitFor()
await page.keyboard.type('p8@hostile.test')
await page.getByRole('option').filter({ hasText: 'p8@hostile.test' }).first().waitFor()
await look()
await browser.close()
check(evil.asked.length === 0, `no request goes to evil.example, unlike ${evil.asked} were`)
nothing(wrong.filter(w => !/ left the machine: http:\/\/evil\.example\/\S+ net::ERR_ABORTED$/.test(w))) // aborted before it started
