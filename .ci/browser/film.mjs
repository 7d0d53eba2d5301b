// The first two minutes: open a new installation, send an email, see it delivered, add a domain, receive a webhook. In
// development (LINK) the built-in receiver gets the webhook; in production (SETUP, the setup link) the app at HOOK does.
// ZONE publishes DNS records. With FILM, a folder, every frame that the browser paints is written there, numbered, with
// the milliseconds since the start in its name: ffmpeg makes a video of them.
import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { check, nothing, open, watch } from './browser.mjs'
import { base, menuOf, seen } from './dashboard.mjs'

const { SETUP, LINK, ZONE, HOOK, FILM } = process.env
const { browser, context, page } = await open({ viewport: { width: 1440, height: 900 }, permissions: ['clipboard-read', 'clipboard-write'] })
const wrong = watch(context, base)
const frames = await record(FILM && `${FILM}/${SETUP ? 'production' : 'development'}`)
const button = (name, within = page) => within.getByRole('button', { name, exact: true })
const step = name => page.getByRole('listitem').filter({ hasText: name })

// record writes the frames of the page to a folder, and returns a function that ends the recording.
async function record(folder) {
  if (!folder) return async () => {}
  await mkdir(folder, { recursive: true })
  const session = await context.newCDPSession(page)
  const writes = []
  const start = Date.now()
  session.on('Page.screencastFrame', ({ data, sessionId }) => {
    const name = `${String(writes.length).padStart(4, '0')}-${Date.now() - start}.jpg`
    writes.push(writeFile(`${folder}/${name}`, Buffer.from(data, 'base64')), session.send('Page.screencastFrameAck', { sessionId }).catch(() => {}))
  })
  await session.send('Page.startScreencast', { format: 'jpeg', quality: 80 })
  return async () => {
    await session.send('Page.stopScreencast')
    await Promise.all(writes)
    check(writes.length > 20, `the film has frames: ${writes.length / 2}`)
  }
}

// 1. Open.
await page.goto(SETUP || LINK)
if (SETUP) {
  await page.getByLabel('Email').fill('ada@example.com')
  await page.getByLabel('New password').fill('green paper horses run')
  await page.getByLabel('Team name').fill('Acme')
  await button('Set up').click()
}
await page.waitForURL(base + '/')
await page.getByText('Waiting for your first email').waitFor()

// 2. Send: the command of the page, as it is copied.
if (SETUP) await button('Create and insert a key').click()
const program = page.getByRole('tabpanel').locator('pre').filter({ hasText: 'export POSTRIDER_API_KEY=svc_' })
await program.waitFor()
await page.getByRole('tabpanel').getByRole('button', { name: /^Copy/ }).first().click()
const line = await page.evaluate(() => navigator.clipboard.readText())
await promisify(execFile)('sh', ['-c', line.replaceAll('curl ', 'curl -fsS ')])

// 3. See it delivered: the page follows the email.
await step('Send a first email').getByLabel('done').waitFor()
await step('Send a first email').getByText('Delivered', { exact: true }).waitFor()
await step('Send a first email').getByRole('link').filter({ hasText: 'View email' }).click()
await page.getByRole('heading', { name: 'Hello from Postrider' }).waitFor()
await seen(page, 'Delivered').first().waitFor()
await page.frameLocator('iframe').getByRole('heading', { name: 'It works' }).waitFor()

// 4. Add a domain, publish its records, and verify it.
await menuOf(page).filter({ hasText: 'Start' }).click()
await page.getByRole('link').filter({ hasText: SETUP ? 'Add a domain' : 'Domains' }).first().click()
await button('Add a domain').first().click()
await page.getByRole('dialog').getByLabel('Name').fill('acme.example')
await button('Add domain').click()
await page.getByRole('heading', { name: 'acme.example', level: 1 }).waitFor()
const { domains } = await (await context.request.get(`${base}/api/domains`)).json()
const published = await fetch(ZONE, { method: 'POST', body: JSON.stringify(domains.find(d => d.name === 'acme.example').records) })
check(published.ok, `the records are published: ${published.status}`)
await page.getByRole('table', { name: 'DNS records' }).getByRole('row').filter({ hasText: 'DKIM' }).waitFor()
await button('Verify now').click()
await seen(page, 'Verified').first().waitFor()

// 5. Receive a webhook.
await menuOf(page).filter({ hasText: 'Start' }).click()
await page.getByRole('link').filter({ hasText: 'Add a webhook' }).click()
if (SETUP) {
  await button('Add an endpoint').first().click()
  await page.getByRole('dialog').getByLabel('URL').fill(HOOK)
  await button('Add endpoint').click()
  await button('I’ve copied it').click()
  await page.getByRole('link', { name: HOOK }).click()
  await button('Test event').click()
  await button('Send test event').click()
  await page.getByRole('complementary').getByText('Delivered').first().waitFor()
} else {
  await button('Create endpoint').click()
  await button('Send a test event').click()
  await page.getByRole('row').or(page.getByRole('listitem')).filter({ hasText: 'responded 200' }).first().waitFor()
}
await menuOf(page).filter({ hasText: 'Start' }).click()
await page.getByRole('heading', { name: 'Start', level: 1 }).waitFor()
await frames()
await browser.close()
nothing(wrong)
