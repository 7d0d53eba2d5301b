// An account of two has moved. Signing in leads to the other one. The account menu leads to a page with the new base URL,
// which passes axe in both themes, and back. A person without another account signs in to that page. MEMBER and
// MEMBER_PASSWORD belong to that person.
import { check, nothing, open, violations, watch } from './browser.mjs'
import { base, menuOf, pathsOf, seen, settled, signIn, visit } from './dashboard.mjs'

const { browser, context, page } = await open({ viewport: { width: 1440, height: 900 } })
const wrong = watch(context, base)
const title = page.getByRole('heading', { name: 'This account has moved' })
const away = page.getByRole('main').getByRole('link', { name: 'Open new.example.com' })

// 1. The owner signs in to the account that is here.
await signIn(context)
await visit(page, '/')
check((await pathsOf(page)).includes('/emails'), 'the owner signs in to the account that is here')

// 2. The menu names the account that has moved, and leads to its page.
await page.getByRole('navigation', { name: 'Main' }).locator('button[aria-haspopup=menu]').click()
await page.getByRole('menuitem', { name: / moved$/ }).click()
await title.waitFor()
await settled(page)
check(await away.getAttribute('href') === 'https://new.example.com/', 'the button leads to the new base URL')
check(!(await pathsOf(page)).includes('/emails'), 'the menu has no screens of the account')
check(await page.getByText('You don’t have an account yet').count() === 0, 'the owner has an account')
for (const theme of ['light', 'dark'])
  for (const width of [390, 1440]) wrong.push(...(await violations(page, theme, width)).map(v => `${theme} ${width}: ${v}`))

// 3. Links to screens lead to the same page, and the person still has a profile.
await visit(page, '/emails?q=is%3Abounced')
await title.waitFor()
await visit(page, '/profile')
check(await title.count() === 0, 'the profile can be opened')
check(await page.getByRole('main').getByRole('alert').count() === 0, `the profile loads: ${await page.getByRole('main').getByRole('alert').allInnerTexts()}`)

// 4. The page leads back to the other account.
await visit(page, '/')
await page.getByRole('button', { name: 'Switch to Second' }).click()
await menuOf(page).filter({ hasText: 'Emails' }).first().waitFor()
check(await title.count() === 0, 'the other account has its screens')

// 5. A member of this account alone signs in to its page.
await page.goto('about:blank') // no request of the page may be without a session
await context.clearCookies()
await signIn(context, process.env.MEMBER, process.env.MEMBER_PASSWORD)
await visit(page, '/')
await title.waitFor()
await away.waitFor()
check(await seen(page, 'Your other accounts').count() === 0, 'the member has no other account')
await browser.close()
nothing(wrong)
