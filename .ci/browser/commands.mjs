// Runs every command and program that an empty account's screens print, exactly as printed: in development as they are
// (LINK), in production (SETUP, the setup link) with a key of the scope that the screen names. Every one must succeed.
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { check, nothing, open, violations, watch } from './browser.mjs'
import { base, pathsOf, settled, visit } from './dashboard.mjs'

const { SETUP, LINK } = process.env
const { browser, context, page } = await open({ viewport: { width: 1440, height: 900 } })
const wrong = watch(context, base)
const post = async (path, data) => {
  const answer = await context.request.post(base + path, { data, headers: { Origin: base } })
  check(answer.ok(), `POST ${path} is accepted: ${answer.status()} ${await answer.text()}`)
  return answer.json()
}

if (SETUP) {
  await page.goto(SETUP)
  for (const theme of ['light', 'dark']) for (const width of [390, 1440]) for (const v of await violations(page, theme, width)) wrong.push(`/setup ${theme} ${width}: ${v}`)
  await page.getByLabel('Email').fill('ada@example.com')
  await page.getByLabel('New password').fill('green paper horses run')
  await page.getByLabel('Team name').fill('Acme')
  await page.getByRole('button', { name: 'Set up' }).click()
} else await page.goto(LINK)
await page.waitForURL(base + '/')
await settled(page)
await page.goto(base + '/setup')
await page.waitForURL(base + '/') // the installation is set up

// An active automation without runs prints a command, too.
const { automation } = await post('/api/automations', { name: 'Welcome', trigger: { event: 'user.created' }, steps: [{ key: 'pause', type: 'delay', duration: 'P1D' }] })
await post(`/api/automations/${automation.id}`, { action: 'activate' })

// collect returns what the page prints, with the scope of the key that it asks for.
const programs = new Map()
const collect = async where => {
  await page.waitForFunction(() => !document.querySelector('main .skel, dialog .skel'))
  const found = await page.locator('[data-run]').filter({ visible: true }).evaluateAll(all => all.map(pre => ({ run: pre.dataset.run, text: pre.innerText, scope: /scope (full|sending|read)/.exec(pre.closest('.grid')?.innerText ?? '')?.[1] })))
  for (const program of found) if (!programs.has(program.run + program.text)) programs.set(program.run + program.text, { where, ...program })
  return found.length
}
for (const path of [...(await pathsOf(page)), '/queue?tab=scheduled', '/suppressions?tab=opt-outs', `/automations/${automation.id}?tab=runs`]) {
  await visit(page, path)
  await collect(path)
}
await visit(page, '/')
for (const tab of await page.getByRole('tablist', { name: 'Language' }).getByRole('tab').all()) {
  await tab.click()
  const name = await tab.innerText()
  check(await collect(`/ ${name}`) === 1, `the start page prints a program for ${name}`)
}
if (SETUP) {
  await page.getByRole('tab', { name: 'curl' }).click()
  await page.getByRole('button', { name: 'Create and insert a key' }).click()
  await page.getByText('Copy the key now').waitFor()
  await collect('/ with a new key')
}
for (const scope of ['sending', 'read', 'full']) {
  await visit(page, `/keys?create=${scope}`)
  await page.getByRole('dialog').getByLabel('Name').fill(`Key ${scope}`)
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByRole('dialog', { name: `API key Key ${scope}` }).waitFor()
  check(await collect(`/keys ${scope}`) === 1, `the dialog of a new key with scope ${scope} prints a command`)
}
check(programs.size >= (SETUP ? 15 : 19), `the screens print commands: ${[...programs.values()].map(p => p.where)}`)

// An environment with nothing but what the screen asks for.
const folder = await mkdtemp(join(tmpdir(), 'commands-'))
const { POSTRIDER_API_KEY, ...environment } = process.env
const keys = {}
const exec = promisify(execFile)
for (const { where, run, text, scope } of programs.values()) {
  const env = { ...environment }
  if (SETUP && !/export POSTRIDER_API_KEY=/.test(text)) {
    check(scope || /^\/( |$)/.test(where), `${where} names the scope of the key`)
    env.POSTRIDER_API_KEY = keys[scope ?? 'sending'] ??= (await post('/api/api-keys', { name: 'commands', scope: scope ?? 'sending' })).secret
  } else if (run !== 'sh') env.POSTRIDER_API_KEY = process.env.KEY // the screen shows a second line, which exports it
  const [program, ...args] = run.split(' ')
  const file = args.at(-1) ?? 'command.sh'
  await writeFile(join(folder, file), run === 'sh' ? text.replaceAll(/\bcurl /g, 'curl -fsS ') : text)
  // The SDK is not installed here; .ci/clients calls it in the same way.
  const command = text.includes("from 'resend'") ? ['node', '--check', file] : run === 'sh' ? ['sh', '-e', file] : [program, ...args]
  try {
    const { stdout, stderr } = await exec(command[0], command.slice(1), { cwd: folder, env })
    const smtp = text.includes('--mail-rcpt'), checked = command[1] === '--check'
    if (!smtp && !checked && !/\b(msg|dom|tpl|wh|ae|acc)_\w{10}/.test(stdout)) wrong.push(`${where}: ${run} prints no id:\n${text}\n${stdout}${stderr}`)
  } catch (error) {
    if (error.code === 'ENOENT') console.log(`${where}: ${program} is not installed`)
    else wrong.push(`${where}: ${run} fails:\n${text}\n${error.stdout}${error.stderr}`)
  }
}
await rm(folder, { recursive: true })
console.log([...programs.values()].map(p => `${p.where}: ${p.run}`).join('\n'))
await browser.close()
nothing(wrong)
