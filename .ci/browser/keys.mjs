// The page of an API key: create a key for some networks, use it, rename it, change its networks and rotate it. The
// operator creates an operator key, and a user who signs in with a link. A dialog that shows a new secret asks before Esc closes it. Every copy button of every screen copies the value next to
// it.
import { check, nothing, open, watch } from './browser.mjs'
import { api, base, menuOf, pathsOf, seen, send, settled, signIn, until, visit } from './dashboard.mjs'

const { browser, context, page } = await open({ viewport: { width: 1440, height: 900 }, permissions: ['clipboard-read', 'clipboard-write'] })
const wrong = watch(context, base, text => text.includes('status of 400')) // an invalid network
await signIn(context)
// valueNextTo is the text in front of a copy button.
await page.addInitScript(() => {
  window.valueNextTo = button => (button.previousSibling ?? button.parentElement.previousSibling)?.textContent ?? ''
})
const dialog = page.getByRole('dialog')
const statusWith = async secret => (await fetch(base + '/api/emails', { method: 'POST', headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' }, body: JSON.stringify({ from: 'ada@dev.test', to: 'bob@example.net', subject: 'Key', text: 'Key' }) })).status
const clipboard = () => page.evaluate(() => navigator.clipboard.readText())

// takeSecret copies the secret of a dialog, and closes it with Esc, which asks first.
async function takeSecret(title) {
  await dialog.getByRole('heading', { name: title }).waitFor()
  await dialog.getByRole('button', { name: 'Copy key' }).click()
  const secret = await until('the secret is copied', async () => { const text = await clipboard(); return text.startsWith('svc_') && text })
  check(secret === await dialog.locator('code.select-all').innerText(), 'the copy button copies the secret')
  await page.keyboard.press('Escape')
  await dialog.getByRole('alert').filter({ hasText: 'won’t see this again' }).waitFor()
  check(await dialog.isVisible(), 'Esc asks before it closes a new secret')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  return secret
}

// 1. Create a key for this machine. An invalid network is named.
await visit(page, '/keys?create=sending')
await dialog.getByLabel('Name').fill('web shop')
await dialog.getByLabel('Allowed networks').fill('127.0.0.0/8\nnowhere')
await dialog.getByRole('button', { name: 'Create key' }).click()
await dialog.getByText(/nowhere must be an IP address or a network/).waitFor()
await dialog.getByLabel('Allowed networks').fill('127.0.0.0/8\n::1')
await dialog.getByRole('button', { name: 'Create key' }).click()
const secret = await takeSecret('API key web shop')
check(await statusWith(secret) < 300, 'the key works from an allowed network')

// 2. Its page shows the networks, and the address of the last use.
await visit(page, '/keys')
await page.getByRole('link', { name: 'web shop' }).click()
await seen(page, '127.0.0.0/8').first().waitFor()
const { pathname } = new URL(page.url())
await until('the last use is shown', async () => { await visit(page, pathname); return await seen(page, /from 127\.0\.0\.1/).count() > 0 })

// 3. Rename it, and change its networks.
const choose = async name => { await page.getByRole('button', { name: 'More actions' }).click(); await page.getByRole('menuitem', { name }).click() }
await choose('Rename')
await dialog.getByLabel('Name').fill('storefront')
await dialog.getByRole('button', { name: 'Rename' }).click()
await page.getByRole('heading', { name: 'storefront', level: 1 }).waitFor()
await choose('Change networks')
await dialog.getByLabel('Allowed networks').fill('192.0.2.0/24')
await dialog.getByRole('button', { name: 'Save networks' }).click()
await dialog.waitFor({ state: 'detached' })
await seen(page, '192.0.2.0/24').first().waitFor()
await until('the key is refused from another network', async () => await statusWith(secret) === 403)
await choose('Change networks')
await dialog.getByLabel('Allowed networks').fill('')
await dialog.getByRole('button', { name: 'Save networks' }).click()
await dialog.waitFor({ state: 'detached' })
await until('the key works from everywhere', async () => await statusWith(secret) < 300)

// 4. Rotate it. The old key ends, the new one works.
await page.getByRole('button', { name: 'Rotate' }).click()
await dialog.getByLabel('Old key works').selectOption('No longer')
await dialog.getByRole('button', { name: 'Create new key' }).click()
const rotated = await takeSecret('New secret of storefront')
check(rotated !== secret && await statusWith(rotated) < 300, 'the new key works')
await until('the old key has ended', async () => await statusWith(secret) === 401)

// 5. Create an operator key, use it and revoke it.
const operate = async key => (await fetch(base + '/api/operator/users?q=carol', { headers: { Authorization: `Bearer ${key}` } })).status
await visit(page, '/operator?tab=keys')
await page.getByRole('button', { name: 'Create operator key' }).click()
await dialog.getByLabel('Name').fill('provisioning')
await dialog.getByRole('button', { name: 'Create key' }).click()
const operatorKey = await takeSecret('Operator key provisioning')
check(await operate(operatorKey) === 200, 'the operator key works')
await page.getByRole('button', { name: 'Revoke provisioning' }).click()
await dialog.getByRole('button', { name: 'Revoke key' }).click()
await dialog.waitFor({ state: 'detached' })
await until('the operator key has ended', async () => await operate(operatorKey) === 401)

// 6. Create a user, who signs in with a link, and disable them.
await page.getByRole('tab', { name: 'Users' }).click()
await page.getByRole('button', { name: 'Create user' }).click()
await dialog.getByLabel('Email').fill('carol@example.com')
await dialog.getByLabel('Name').fill('Carol')
await dialog.getByRole('button', { name: 'Create user' }).click()
await dialog.waitFor({ state: 'detached' })
const act = async name => { await page.getByRole('button', { name: 'More actions for carol@example.com' }).click(); await page.getByRole('menuitem', { name }).click() }
await act('Create sign-in link')
await dialog.getByRole('button', { name: 'Create link' }).click()
const link = await dialog.locator('code.select-all').innerText()
await page.keyboard.press('Escape')
await page.keyboard.press('Escape')
await dialog.waitFor({ state: 'detached' })
const hers = await browser.newContext()
const herPage = await hers.newPage()
await herPage.goto(link)
const session = async () => (await hers.request.get(new URL(link).origin + '/api/session')).status() // which may be another name of the host
await until('Carol is signed in', async () => await session() === 200)
await act('Disable')
await dialog.getByRole('button', { name: 'Disable' }).click()
await dialog.waitFor({ state: 'detached' })
await until('Carol is signed out', async () => await session() === 401)
await hers.close()

// 7. Copy buttons of every screen, and of a record of each kind.
await send({ subject: 'Copy', to: 'bob@example.net', headers: { 'X-Order': '1742' } })
const first = async (path, member) => (await api('GET', path))[member][0]?.id
const records = { emails: await first('/emails', 'emails'), domains: await first('/domains', 'domains'), keys: await first('/api-keys', 'api_keys') }
await page.goto(base + '/')
await menuOf(page).first().waitFor()
const paths = [...new Set([...await pathsOf(page), ...Object.entries(records).map(([screen, id]) => `/${screen}/${id}`), `/emails/${records.emails}?show=headers&tab=recipients`, `/emails?open=${records.emails}`, '/addresses/bob%40example.net'])]
let copied = 0
for (const path of paths) {
  await page.goto(base + path)
  await settled(page)
  const buttons = page.getByRole('main').getByRole('button', { name: /^Copy/ }).filter({ visible: true })
  for (let i = 0; i < Math.min(await buttons.count(), 12); i++) {
    const button = buttons.nth(i)
    const [name, shown] = await button.evaluate(b => [b.getAttribute('aria-label') ?? b.innerText, valueNextTo(b)])
    await page.evaluate(() => navigator.clipboard.writeText('nothing'))
    await button.click()
    await until(`"${name}" copies`, async () => await clipboard() !== 'nothing')
    const text = await clipboard()
    if (text.trim() !== shown.trim()) wrong.push(`${path}: "${name}" copies ${JSON.stringify(text)}, but ${JSON.stringify(shown)} is next to it`)
    copied++
  }
}
console.log(`${copied} copy buttons on ${paths.length} pages`)
check(copied > 20, `screens have copy buttons: ${copied}`)
await browser.close()
nothing(wrong)
