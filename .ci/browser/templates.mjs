// The template editor: a preview of text that is not saved, with the position of errors and a check of the content;
// autosave, and a history that can be restored; the width of a phone and dark mode; images.
import { writeFile } from 'node:fs/promises'
import { check, nothing, open, violations, watch } from './browser.mjs'
import { api, base, signIn, until, visit } from './dashboard.mjs'

const { browser, context, page } = await open({ viewport: { width: 1440, height: 900 } })
const wrong = watch(context, base, (text, url) => /\/render$|\/templates\/tpl/.test(url) && text.includes('400')) // errors of the text
await signIn(context)
const html = `<html><head><style>
  .phone, .dark { display: none }
  @media (max-device-width: 480px) { .phone { display: block } .desk { display: none } }
  @media (prefers-color-scheme: dark) { body { background: #111; color: #eee } .dark { display: block } .light { display: none } }
</style></head><body style="margin:0">
<table width="600"><tr><td>Hello {{ name }}</td></tr></table>
<p class="desk">At a desk</p><p class="phone">On a phone</p><p class="light">In daylight</p><p class="dark">At night</p>
</body></html>
`
const { template } = await api('POST', '/templates', { name: 'Live', subject: 'Hello', from: 'ada@dev.test', html, variables: [{ key: 'name', type: 'string', fallback: 'Ada' }, { key: 'order', type: 'number', fallback: 2202 }] })
await visit(page, `/templates/${template.id}`)
const preview = page.getByRole('region', { name: 'Preview' })
const email = page.frameLocator('iframe[title="Rendered email"]')
const stored = async () => (await api('GET', `/templates/${template.id}`)).template
const code = page.locator('.cm-content')
const append = async text => { await code.click(); await page.keyboard.press('Control+End'); await page.keyboard.insertText(text) }

// 1. Text appears in the preview while it is typed, and is saved automatically.
await email.getByText('Hello Ada').waitFor()
await append('<p>Typed and not saved</p>')
await email.getByText('Typed and not saved').waitFor()
await page.getByRole('region', { name: 'Preview' }).getByText('Screen readers do not know the language of the email.').waitFor()
await page.getByRole('button', { name: 'Saved' }).waitFor()
await until('the draft is saved', async () => (await stored()).html.includes('Typed and not saved'))

// 2. An error has a position, the last preview stays, and nothing invalid is saved.
await append('<b>{{ name | nope }}</b>')
await preview.getByRole('button', { name: /HTML, line 9, column 30/ }).waitFor()
await preview.getByText('There is no filter nope').waitFor()
await page.locator('.cm-wrong').getByText('nope').waitFor()
await email.getByText('Typed and not saved').waitFor()
await preview.getByRole('button', { name: /HTML, line 9/ }).click()
check((await page.evaluate(() => getSelection()?.toString())) === '{{ name | nope }}', 'the position of an error is selected')
check(!(await stored()).html.includes('nope'), 'an invalid draft is not saved')
await page.keyboard.press('Delete')

// Variables are completed.
await code.click()
await page.keyboard.press('Control+End')
await page.keyboard.type('{{ na')
const option = page.getByRole('option', { name: /^name/ })
await option.waitFor()
await until('the variable is completed', async () => {
  if (await option.isVisible()) await option.click({ timeout: 2000 }).catch(() => {}) // the editor ignores clicks while it updates the list
  return /{{ name ?}}$/.test((await code.innerText()).trimEnd())
})
await until('the completed variable is saved', async () => /{{ name ?}}$/.test((await stored()).html.trimEnd()))

// 3. The frame has room for 600 pixels, and the width and the color scheme of a phone are emulated.
const table = await email.locator('table').boundingBox()
const frame = await page.locator('iframe[title="Rendered email"]').boundingBox()
check(table.width > 590 && frame.width >= table.width, `an email of 600 pixels fits: ${table.width} in ${frame.width}`)
await email.getByText('At a desk').waitFor()
await email.getByText('In daylight').waitFor()
await preview.getByRole('button', { name: 'Dark mode' }).click()
await email.getByText('At night').waitFor()
check(!await email.getByText('In daylight').isVisible(), 'dark mode hides what is for light mode')
await preview.getByRole('button', { name: 'Phone' }).click()
await email.getByText('On a phone').waitFor()
check(!await email.getByText('At a desk').isVisible(), 'a phone hides what is for a desk')
for (const [theme, width] of [['light', 1440], ['dark', 1440], ['light', 390], ['dark', 390]]) for (const v of await violations(page, theme, width)) wrong.push(`the editor, ${theme} ${width}: ${v}`)
await email.getByText('On a phone').waitFor() // scaled to the width of the window, the email still has that of a phone
await page.setViewportSize({ width: 1440, height: 900 })
await preview.getByRole('button', { name: 'Desktop' }).click()
await preview.getByRole('button', { name: 'Light mode' }).click()

// 4. An image is uploaded, inserted and shown.
const file = `${process.env.TMPDIR ?? '/tmp'}/postrider-test-${process.pid}.png`
await writeFile(file, Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGOQj98PAAHeAT6KpYphAAAAAElFTkSuQmCC', 'base64'))
await code.click()
await page.keyboard.press('Control+End')
await page.getByRole('button', { name: 'Insert image' }).click()
const images = page.getByRole('dialog', { name: 'Insert image' })
await images.locator('input[type=file]').setInputFiles(file)
await images.getByRole('button', { name: /^Insert postrider/ }).waitFor()
for (const theme of ['light', 'dark']) for (const v of await violations(page, theme, 1440)) wrong.push(`images, ${theme}: ${v}`)
await images.getByRole('button', { name: /^Insert postrider/ }).click()
const shown = email.locator('img')
await shown.waitFor()
check(await shown.evaluate(i => i.complete && i.naturalWidth === 1).catch(() => true), 'an own image is shown without asking')
check(await preview.getByText('blocked').count() === 0, 'own images are not reported as remote')
await page.getByRole('button', { name: 'Saved' }).waitFor()
const tag = (await stored()).html.match(/<img src="([^"]+)"/)
check(tag && (await fetch(tag[1])).headers.get('content-type') === 'image/png', `the image can be loaded without a session: ${tag}`)

// 5. The history has the first draft and the edits of this session, and restores the first.
await page.getByRole('tab', { name: 'History' }).click()
await page.getByText(process.env.EMAIL).first().waitFor()
await page.getByRole('button', { name: 'View edit 1' }).click()
const old = page.getByRole('dialog', { name: /^Edit 1 of/ })
await old.frameLocator('iframe').getByText('Hello Ada').waitFor()
for (const theme of ['light', 'dark']) for (const v of await violations(page, theme, 1440)) wrong.push(`an edit, ${theme}: ${v}`)
await old.getByRole('button', { name: 'Close' }).click()
await page.getByRole('button', { name: 'Restore edit 1' }).click()
await page.getByRole('button', { name: 'Restore as draft' }).click()
await page.getByText('Edit 1 restored as the draft').waitFor()
check((await stored()).html === html.trimEnd() || (await stored()).html === html, 'the first draft is restored')
await page.getByRole('button', { name: 'Restore edit 2' }).waitFor()

// 6. A translation begins as a copy. It is edited and previewed in its language, and filters are completed.
await page.getByRole('tab', { name: 'HTML' }).click()
await page.getByRole('button', { name: 'Add language' }).click()
const adding = page.getByRole('dialog', { name: 'Add language' })
await adding.getByLabel('Language tag').fill('pt-br')
await adding.locator('p').getByText('Brazilian Portuguese').waitFor()
for (const theme of ['light', 'dark']) for (const v of await violations(page, theme, 1440)) wrong.push(`add language, ${theme}: ${v}`)
await adding.getByRole('button', { name: 'Add language' }).click()
await page.getByLabel('Subject (pt-BR)').fill('Oi')
await code.click()
await page.keyboard.press('Control+End')
await page.keyboard.type('{{ order | mon')
await page.getByRole('option', { name: /^money/ }).click()
await page.keyboard.type(' }}')
await email.getByText('€\u00a02.202,00').waitFor()
await page.keyboard.insertText('{{ name | nope }}')
await preview.getByRole('button', { name: /HTML \(pt-BR\), line/ }).click()
await until('the position of the error is selected', async () => (await page.evaluate(() => getSelection()?.toString())) === '{{ name | nope }}')
await page.keyboard.press('Delete')
await until('the translation is saved', async () => { const t = (await stored()).translations[0]; return t?.locale === 'pt-BR' && t.subject === 'Oi' && t.html.includes('money: "EUR"') })
check((await stored()).subject === 'Hello' && !(await stored()).html.includes('money'), 'the default language is unchanged')
for (const theme of ['light', 'dark']) for (const v of await violations(page, theme, 1440)) wrong.push(`a translation, ${theme}: ${v}`)
await page.getByLabel('Subject (pt-BR)').fill('')
await page.getByText('Missing: subject').waitFor()
await until('the part is removed', async () => (await stored()).locales[0].missing.join() === 'subject')
await page.getByRole('combobox', { name: 'Language' }).first().selectOption('')
await page.getByLabel('Subject', { exact: true }).waitFor()
check(!(await code.textContent()).includes('money'), 'the editor shows the default language')
await email.getByText('Hello Ada').waitFor()
await browser.close()
nothing(wrong.filter(w => !w.includes(` ${tag[1]}`))) // the base URL of the images names this machine by its address
