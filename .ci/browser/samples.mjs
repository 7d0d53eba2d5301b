// The sample templates of the manual are built in the dashboard alone, from the texts in SAMPLES: layouts, partials,
// variables with examples, languages and images. Each is checked in the preview and published.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { check, nothing, open, watch } from './browser.mjs'
import { api, base, signIn, until, visit } from './dashboard.mjs'

const { browser, context, page } = await open({ viewport: { width: 1440, height: 1000 } })
const wrong = watch(context, base, (text, url) => /\/render$|\/templates\/tpl/.test(url) && text.includes('400')) // errors of unfinished texts
await signIn(context)
const preview = page.getByRole('region', { name: 'Preview' })
const email = page.frameLocator('iframe[title="Rendered email"]')
const code = page.locator('.cm-content')
const tab = name => page.getByRole('tab', { name }).click()

// A template has a folder by its kind, and the files .yaml, .html and .txt, with the language before the ending.
const folders = { partial: 'partials/', layout: 'layouts/', template: '' }
const read = path => readFile(`${process.env.SAMPLES}/${path}`, 'utf8').catch(() => '')
const plain = text => (text.startsWith('"') ? JSON.parse(text) : text)

// describe reads a .yaml file of the samples: fields, and variables whose examples are JSON.
function describe(text) {
  const fields = {}, variables = []
  for (const line of text.split('\n')) {
    const [, start, key, value] = /^(\s*-?\s*)(\w+): ?(.*)$/.exec(line) ?? []
    if (/^ {6}- /.test(line)) variables.at(-1).items = [...variables.at(-1).items ?? [], line.slice(8)]
    else if (start === '') fields[key] = plain(value)
    else if (start === '  - ') variables.push({ key: value })
    else if (key) variables.at(-1)[key] = plain(value)
  }
  return { ...fields, variables: variables.map(v => ({ ...v, example: v.items ? `[${v.items.join(',')}]` : v.example })) }
}

async function paste(text) {
  await code.click()
  await page.keyboard.press('Control+A')
  await code.evaluate((editor, text) => {
    const clipboardData = new DataTransfer()
    clipboardData.setData('text/plain', text)
    editor.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
  }, text)
}

async function writeParts(alias, folder, locale) {
  const suffix = locale && `.${locale}`
  const html = await read(`${folder}${alias}${suffix}.html`)
  const text = await read(`${folder}${alias}${suffix}.txt`)
  const { subject } = describe(await read(`${folder}${alias}${suffix}.yaml`))
  if (subject) await page.getByLabel(locale ? `Subject (${locale})` : 'Subject', { exact: true }).fill(subject)
  await tab('HTML')
  await paste(html)
  if (text) {
    await tab('Text')
    await page.getByText('If empty, it’s generated from the HTML.').waitFor()
    await paste(text)
  }
}

async function addVariables(variables) {
  await tab(/^Variables/)
  for (const remove of await page.getByRole('button', { name: /^Remove / }).all()) await remove.click()
  for (const [i, v] of variables.entries()) {
    await page.getByRole('button', { name: 'Add a variable' }).click()
    const row = page.getByRole('tabpanel').getByRole('listitem').nth(i)
    await row.getByLabel('Name').fill(v.key)
    if (v.type !== 'string') await row.getByLabel('Type').selectOption(v.type)
    if (v.fallback) await row.getByLabel('Fallback').fill(v.fallback)
    if (v.fallback === '') await row.getByLabel('Empty if missing').check()
    if (v.required === 'true') await row.getByLabel('Required').check()
    await row.getByLabel(/^Example for the preview/).fill(v.example)
  }
}

async function build(kind, alias, before = async () => {}) {
  const folder = folders[kind]
  const sample = describe(await read(`${folder}${alias}.yaml`))
  await visit(page, '/templates')
  await page.getByRole('button', { name: 'New template' }).first().click()
  const adding = page.getByRole('dialog', { name: 'New template' })
  await adding.getByLabel('Kind').selectOption(kind)
  await adding.getByLabel('Name').fill(sample.name)
  await adding.getByLabel('Alias').fill(alias)
  await adding.getByRole('button', { name: 'Create draft' }).click()
  await page.getByRole('heading', { name: sample.name }).waitFor()
  if (sample.from) await page.getByLabel('From').fill(sample.from)
  if (sample.category) {
    await page.getByRole('button', { name: 'Reply-To, category, unsubscribe' }).click()
    await page.getByLabel('Category').fill(sample.category)
    await page.getByLabel('Add a managed unsubscribe link').setChecked(sample.unsubscribe_enabled === 'true')
  }
  await before()
  await addVariables(sample.variables)
  await writeParts(alias, folder, '')
  const files = await readdir(`${process.env.SAMPLES}/${folder}`)
  for (const file of files.sort()) {
    const [name, locale, ending] = file.split('.')
    if (name !== alias || ending !== 'html') continue
    await page.getByRole('button', { name: 'Add language' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add language' })
    await dialog.getByLabel('Language tag').fill(locale)
    await dialog.getByRole('button', { name: 'Add language' }).click()
    await writeParts(alias, folder, locale)
  }
  if (kind === 'template') await preview.getByText('No problems found.').waitFor()
  await page.getByRole('button', { name: 'Publish', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: /ublish$/ }).click()
  await page.getByText('Version 1 published').waitFor()
  check((await api('GET', `/templates/${alias}`)).template.status === 'published', `${alias} is published`)
}

// An image is uploaded and shown, before charts from a server replace it.
async function tryImage() {
  const file = `${process.env.TMPDIR ?? '/tmp'}/postrider-chart-${process.pid}.png`
  await writeFile(file, Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGOQj98PAAHeAT6KpYphAAAAAElFTkSuQmCC', 'base64'))
  await page.getByRole('button', { name: 'Insert image' }).click()
  const images = page.getByRole('dialog', { name: 'Insert image' })
  await images.locator('input[type=file]').setInputFiles(file)
  await images.getByRole('button', { name: /^Insert postrider/ }).click()
  await email.locator('img[alt^="postrider-chart"]').waitFor()
}

// The names of partials, layouts and blocks are completed.
async function completeNames() {
  await paste('')
  await page.keyboard.type('{% layout "c')
  await page.getByRole('option', { name: 'card' }).click()
  await page.keyboard.press('End')
  await page.keyboard.type('{% block "con')
  await page.getByRole('option', { name: 'content' }).click()
  await page.keyboard.press('End')
  await page.keyboard.type('{% render "p')
  await page.getByRole('option', { name: 'parcel' }).click()
  const text = await code.textContent()
  check(text === '{% layout "card" %}{% block "content" %}{% render "parcel" %}', `the names are completed: ${text}`)
}

await build('partial', 'parcel')
await build('layout', 'card')
await build('template', 'order-receipt')
await build('template', 'invitation')
await build('template', 'password-reset')
await build('template', 'weekly-report', tryImage)
await build('template', 'shipping-notice', completeNames)

// A test email of the last one arrives in the form of the preview.
await page.getByRole('button', { name: 'More actions' }).click()
await page.getByRole('menuitem', { name: 'Send test email' }).click()
const sending = page.getByRole('dialog', { name: 'Send test email' })
await sending.getByLabel('To').fill('bob@example.net')
await sending.getByRole('button', { name: 'Send', exact: true }).click()
const link = sending.getByRole('link', { name: 'View delivery' })
const id = new URL(await link.getAttribute('href'), base).pathname.split('/').at(-1)
await until('the test email contains both parcels', async () => {
  const { html } = (await api('GET', `/emails/${id}`)).email
  return html.includes('1Z 999') && html.includes('0034')
})
await browser.close()
nothing(wrong.filter(w => !w.includes('/files/images/'))) // the base URL of the images names this machine by its address
