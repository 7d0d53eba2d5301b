// What people paste into a search: the number of an order, a part of an address, a domain, an id. Fields are completed
// and shown as chips, errors have their position, views are saved, and the audit log shows who changed what.
import { check, nothing, open, violations, watch } from './browser.mjs'
import { api, base, seen, showNew, signIn, visit } from './dashboard.mjs'

const { browser, context } = await open({ viewport: { width: 1440, height: 900 } })
const wrong = watch(context, base, text => text.includes('400'))
await signIn(context)
const [page] = context.pages()
const send = (to, subject) => api('POST', '/emails', { from: 'ada@dev.test', to, subject, text: subject })
const { id } = await send('Ada Byron <ada.lovelace@wonder.test>', 'Order ORD2202x has shipped')
await send('bob@other.test', 'Welcome')
for (let i = 0; i < 3; i++) await send(`bulk${i}@other.test`, `Bulk ${i}`)

await visit(page, '/emails')
const field = page.getByRole('combobox', { name: 'Filter' })
const rows = page.locator('tr[data-row]')
const expectRows = async (text, count, what) => {
  await field.fill(text)
  await page.waitForFunction(([n, q]) => new URL(location.href).searchParams.get('q') === q && document.querySelectorAll('tr[data-row]').length === n, [count, text])
  check(await rows.count() === count, what)
}

// 1. Parts of what an email contains.
await expectRows('2202', 1, 'the number of an order is found inside a word')
await expectRows('lovelace@wonder', 1, 'a part of an address is found')
await expectRows('@other.test', 4, 'the domain of recipients is found')
await expectRows('<ada.lovelace@wonder.test>', 1, 'an address in brackets is found')

// 2. An id opens its page, even if loading it takes longer than the delay after which text is applied.
const slowly = route => setTimeout(() => route.continue().catch(() => {}), 700)
await page.route('**/*.js', slowly)
await field.fill(id)
await page.getByRole('option', { name: /Open email/ }).waitFor()
await page.keyboard.press('Enter')
await page.getByRole('heading', { level: 1, name: id }).waitFor()
check(page.url() === `${base}/emails/${id}`, 'Enter opens the page of an id')
await page.unroute('**/*.js', slowly)

// A page that is named comes before results, so that Enter does not depend on the speed of typing.
await send('carl@third.test', 'Webhooks moved')
await page.keyboard.press('Control+k')
const palette = page.getByRole('dialog', { name: 'Search or jump to' })
await palette.waitFor()
await page.keyboard.type('Webhooks')
await palette.getByRole('option', { name: 'Webhooks moved' }).waitFor()
check(/^Webhooks/.test(await palette.getByRole('option').first().innerText()), 'the page is above the results')
await page.keyboard.press('Enter')
await page.waitForURL(`${base}/webhooks`)

// 3. Completion, chips, and their removal, with the keyboard alone.
await visit(page, '/emails')
await page.keyboard.press('/')
await page.keyboard.type('sub')
await page.getByRole('option', { name: /subject:/ }).waitFor()
await page.keyboard.press('ArrowDown')
await page.keyboard.press('Enter')
check(await field.inputValue() === 'subject:', 'a field is completed')
await page.keyboard.type('bulk')
await page.keyboard.press('Enter')
await page.getByRole('button', { name: 'Remove filter subject:bulk' }).waitFor()
await page.waitForFunction(() => document.querySelectorAll('tr[data-row]').length === 3)
nothing(await violations(page, 'light', 1440))
nothing(await violations(page, 'dark', 390))
await page.setViewportSize({ width: 1440, height: 900 })

// 4. A view is saved, and applied later.
await page.getByTitle('Saved views').click()
await page.getByRole('menuitem', { name: 'Save this view' }).click()
await page.getByLabel('Name').fill('Bulk mail')
await page.getByRole('dialog').getByRole('button', { name: 'Save view' }).click()
await page.getByRole('button', { name: 'Clear filter' }).click()
await page.waitForFunction(() => document.querySelectorAll('tr[data-row]').length > 3)
await page.getByTitle('Saved views').click()
await page.getByRole('menuitem', { name: 'Bulk mail' }).click()
await page.waitForFunction(() => document.querySelectorAll('tr[data-row]').length === 3)
await page.getByRole('button', { name: 'Remove filter subject:bulk' }).click()

// 5. An error waits until the field rests. It has the words of the API, and marks the position.
await field.focus()
await page.keyboard.type('bulk stauts:sent')
check(await page.locator('#filter-error').count() === 0, 'no error is shown while the user types')
const error = page.locator('#filter-error')
await error.waitFor()
check((await error.innerText()).includes('unknown field "stauts" at character 6'), `the error has the words of the API: ${await error.innerText()}`)
check(await error.locator('mark').innerText() === 'stauts:sent', 'the error marks the word')
await page.keyboard.press('Escape')

// 6. The order of the list, and its columns.
await page.getByRole('button', { name: 'Time', exact: true }).click()
await page.locator('th[aria-sort=ascending]').waitFor()
await page.waitForFunction(first => document.querySelector('tr[data-row]')?.dataset.row === first, id)
await page.getByRole('button', { name: 'Columns' }).click()
await page.getByRole('menuitem', { name: 'Tags' }).click()
await page.waitForFunction(() => ![...document.querySelectorAll('th')].some(th => th.innerText === 'Tags'))

// 7. Scheduled emails are sorted by the time of sending, and new ones are announced.
const later = hours => ({ scheduled_at: new Date(Date.now() + hours * 3600_000).toISOString() })
const schedule = (to, hours) => api('POST', '/emails', { from: 'ada@dev.test', to, subject: 'Later', text: 'Later', ...later(hours) })
for (const [to, hours] of [['third@other.test', 3], ['first@other.test', 1], ['second@other.test', 2]]) await schedule(to, hours)
await visit(page, '/emails?q=is:scheduled')
const expectOrder = wanted => page.waitForFunction(w => [...document.querySelectorAll('tr[data-row] a')].map(a => a.innerText.split('@')[0]).join() === w, wanted)
await expectOrder('first,second,third')
await page.getByText('Live', { exact: true }).waitFor()
await schedule('zeroth@other.test', 0.5)
await showNew(page, seen(page, 'zeroth@other.test').first())
await expectOrder('zeroth,first,second,third')
await page.getByRole('button', { name: 'Time', exact: true }).click()
await expectOrder('third,second,first,zeroth')

// 8. The audit log: an object by its id, and the old and the new value.
const { webhook } = await api('POST', '/webhooks', { url: `${base}/old` })
await api('PATCH', `/webhooks/${webhook.id}`, { url: `${base}/new` })
await visit(page, '/audit-log')
await field.fill(`on:${webhook.id}`)
await page.waitForFunction(() => document.querySelectorAll('tr[data-row]').length === 2)
await page.getByRole('button', { name: 'Update webhook' }).click()
const entry = page.getByRole('complementary').or(page.getByRole('dialog')).last()
await entry.getByText(`${base}/old`).waitFor()
await entry.getByText(`${base}/new`).first().waitFor()
nothing(await violations(page, 'light', 1440))

nothing(wrong)
await browser.close()
