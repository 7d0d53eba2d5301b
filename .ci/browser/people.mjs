// A user signs in with a link, adds a passkey, and signs in with the passkey and with the password. axe checks every
// sign-in page.
import { check, open, violations } from './browser.mjs'

const base = new URL(process.env.LINK).origin // a host name, which passkeys require
const { browser, context, page } = await open()
const refused = []
page.on('console', m => m.type() === 'error' && refused.push(m.text()))

const signedIn = async () => {
  await page.goto(base + '/sign-in')
  return (await page.locator('main').innerText()).includes('You are signed in as ' + process.env.EMAIL)
}
const signOut = async () => {
  await page.goto(base + '/sign-in')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('Password').waitFor()
}

const devtools = await context.newCDPSession(page)
await devtools.send('WebAuthn.enable')
const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', { options: { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true } })

await page.goto(process.env.LINK)
await page.waitForURL(base + '/')
check(await signedIn(), 'the development link signs the owner in')
check(!page.url().includes('#'), 'the token stays out of the history')

await page.getByRole('button', { name: 'Add a passkey' }).click()
await page.getByText('Added.').waitFor()
// The email field offers the passkey, which the authenticator chooses without a click.
await page.goto(base + '/sign-in')
await page.getByRole('button', { name: 'Sign out' }).click()
await page.waitForURL(base + '/')
check(await signedIn(), 'the passkey of the email field signs its owner in')
await devtools.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled: false })
// The offer of the email field waits for its options until the button has ended it: otherwise it would take the passkey.
const waiting = new Promise(resolve => page.route('**/api/session/passkey/options', resolve, { times: 1 }))
await signOut()
const offer = await waiting
await devtools.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled: true })
await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
await offer.continue().catch(() => undefined) // the page may have gone
await page.waitForURL(base + '/')
check(await signedIn(), 'the passkey signs its owner in')
await devtools.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled: false })
await signOut()
check(await page.getByLabel('Code').isHidden(), 'the code is asked for on request only')
await page.getByRole('button', { name: 'Enter an authenticator code' }).click()
await page.getByLabel('Code').fill('')

let origin, posted = false
page.on('request', async r => { if (r.method() === 'POST') [origin, posted] = [(await r.allHeaders()).origin, true] })
await page.getByLabel('Email').fill(process.env.EMAIL)
await page.getByLabel('Password').fill('not the password')
await page.getByRole('button', { name: 'Sign in', exact: true }).click()
await page.getByText('Email, password or code is wrong.').waitFor()
while (!posted) await page.evaluate(() => new Promise(requestAnimationFrame)) // the browser reports its requests with a delay
check(origin === base, `a form is sent with the page's origin, and not with ${origin}`)
check(await page.getByLabel('Email').inputValue() === process.env.EMAIL, 'the email is still there after a wrong password')
await page.getByLabel('Password').fill(process.env.PASSWORD)
await page.getByRole('button', { name: 'Sign in', exact: true }).click()
await page.waitForURL(base + '/')
check(await signedIn(), 'the password signs its owner in')
await signOut()

const wrong = []
for (const path of ['/sign-in', '/sign-up', '/reset', '/email', '/invite']) {
  await page.goto(base + path)
  for (const theme of ['light', 'dark'])
    for (const width of [390, 1440]) {
      for (const v of await violations(page, theme, width)) wrong.push(`${path} ${theme} ${width}: ${v}`)
      const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
      if (wide) wrong.push(`${path} ${width}: is wider than the window`)
    }
}
check(wrong.length === 0, 'axe finds nothing:\n' + wrong.join('\n'))
const other = refused.filter(text => !text.includes('401'))
check(other.length === 0, 'the console stays empty: ' + other.join('\n'))
await browser.close()
