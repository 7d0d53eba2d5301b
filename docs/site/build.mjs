// Builds the manual as a static site: node build.mjs OUT
// The pages are the Markdown files that people read in the repository. The navigation is docs/README.md. Besides the
// HTML, the site has each page as Markdown, llms.txt and llms-full.txt. A link or an anchor that leads nowhere fails
// the build.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, posix, relative, resolve } from 'node:path'

const site = import.meta.dirname
const root = resolve(site, '../..')
const content = join(site, '.build')
const out = resolve(process.argv[2] ?? join(root, 'dist/manual'))
const repository = 'https://github.com/postrider/postrider/blob/main/'

// published are the pages by their path in the repository, with their path in the site.
const published = new Map()
for (const name of readdirSync(join(root, 'docs'))) if (name.endsWith('.md')) published.set(`docs/${name}`, name)
for (const name of readdirSync(join(root, 'docs/queries'))) if (name.endsWith('.md')) published.set(`docs/queries/${name}`, `queries/${name}`)
for (const name of ['WEBHOOKS.md', 'SECURITY.md', 'CHANGELOG.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md']) published.set(name, name)
published.set('docs/README.md', 'index.md')
published.set('docs/queries/README.md', 'queries/index.md')

// relink replaces the links of a page by those of the site, or of the repository for files that are not published.
function relink(text, from) {
  return text.replace(/(```[\s\S]*?```)|\]\(([^)\s#]*)(#[^)\s]*)?\)/g, (whole, code, path, anchor = '') => {
    if (code || !path || path.includes(':')) return whole
    const target = posix.normalize(posix.join(posix.dirname(from), path))
    if (published.has(target)) return `](/${published.get(target)}${anchor})`
    if (target.startsWith('docs/pictures/')) return `](/${target.slice('docs/'.length)})`
    return `](${repository}${target}${anchor})`
  })
}

// The sections of the manual are those of its first page: [{ title, pages: [{ title, path, about }] }].
const sections = []
for (const line of readFileSync(join(root, 'docs/README.md'), 'utf8').split('\n')) {
  const heading = line.match(/^## (.+)$/)
  const item = line.match(/^- \[([^\]]+)\]\(([^)]+)\)(?:: (.*)|, (.*))?$/)
  if (heading) sections.push({ title: heading[1], pages: [] })
  else if (item) sections.at(-1).pages.push({ title: item[1], path: posix.normalize(posix.join('docs', item[2])), about: (item[3] ?? item[4] ?? '').replace(/\[([^\]]+)\]\([^)]+\)/g, '$1') })
}
const listed = new Set(sections.flatMap((s) => s.pages.map((p) => p.path)))
const unlisted = [...published.keys()].filter((p) => p.startsWith('docs/') && !p.startsWith('docs/queries/') && p !== 'docs/README.md' && !listed.has(p))
if (unlisted.length) throw new Error(`docs/README.md does not list ${unlisted.join(', ')}`)

rmSync(content, { recursive: true, force: true })
for (const [from, to] of published) {
  mkdirSync(dirname(join(content, to)), { recursive: true })
  writeFileSync(join(content, to), relink(readFileSync(join(root, from), 'utf8').replace(/^<!--.*-->\n/gm, ''), from))
}
cpSync(join(root, 'docs/pictures'), join(content, 'public/pictures'), { recursive: true })
mkdirSync(join(content, '.vitepress'))
const link = (path) => `/${published.get(path).replace(/\.md$/, '')}`
writeFileSync(join(content, '.vitepress/config.json'), JSON.stringify({
  title: 'Postrider', description: 'Self-hosted transactional email', cleanUrls: true, outDir: out,
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    sidebar: sections.map((s) => ({ text: s.title, collapsed: ['Operate', 'Coming from', 'Reference'].includes(s.title), items: s.pages.map((p) => ({ text: p.title, link: link(p.path) })) })),
    socialLinks: [{ icon: 'github', link: 'https://github.com/postrider/postrider' }],
  },
}))
// The anchors are those of GitHub, so that one link works in both places.
writeFileSync(join(content, '.vitepress/config.mjs'), `import { readFileSync } from 'node:fs'
const config = JSON.parse(readFileSync(new URL('config.json', import.meta.url), 'utf8'))
const slugify = (text) => text.trim().toLowerCase().replace(/[^\\p{L}\\p{N}_ -]/gu, '').replaceAll(' ', '-')
// Braces in the text are not expressions of Vue.
const escapeBraces = (md) => {
  for (const rule of ['text', 'code_inline']) {
    const render = md.renderer.rules[rule]
    md.renderer.rules[rule] = (...args) => render(...args).replaceAll('{{', '&#123;&#123;')
  }
}
export default { ...config, markdown: { html: false, anchor: { slugify }, config: escapeBraces, languageAlias: { caddyfile: 'nginx' } } }
`)
execFileSync(process.execPath, [join(site, 'node_modules/vitepress/bin/vitepress.js'), 'build', content], { stdio: 'inherit' })

// For language models: an index, everything in one file, and each page as Markdown.
let full = ''
for (const { pages } of sections) for (const page of pages) full += `${readFileSync(join(content, published.get(page.path)), 'utf8').trim()}\n\n`
for (const to of published.values()) cpSync(join(content, to), join(out, to))
writeFileSync(join(out, 'llms-full.txt'), full)
writeFileSync(join(out, 'llms.txt'), '# Postrider\n\n> Self-hosted transactional email: REST, GraphQL, SMTP and a delivery engine in one binary.\n' +
  sections.map((s) => `\n## ${s.title}\n\n${s.pages.map((p) => `- [${p.title}](/${published.get(p.path)})${p.about ? `: ${p.about}` : ''}`).join('\n')}\n`).join(''))

// Every internal link leads to a page, and every anchor to an element of it.
const pages = new Map()
const walk = (folder) => readdirSync(folder).flatMap((name) => (statSync(join(folder, name)).isDirectory() ? walk(join(folder, name)) : [join(folder, name)]))
for (const file of walk(out)) if (file.endsWith('.html')) pages.set(`/${relative(out, file)}`, readFileSync(file, 'utf8'))
const dead = []
let checked = 0
for (const [page, html] of pages) {
  for (const [, href] of html.matchAll(/href="([^"]+)"/g)) {
    if (/^(https?:|mailto:|data:)/.test(href)) continue
    const [path, anchor] = decodeURIComponent(href).split('#')
    const target = path === '' ? page : posix.resolve(posix.dirname(page), path)
    const file = [target, `${target}.html`, posix.join(target, 'index.html')].find((f) => pages.has(f) || (existsSync(join(out, f)) && statSync(join(out, f)).isFile()))
    checked++
    if (!file || (anchor && !pages.get(file)?.includes(`id="${anchor}"`))) dead.push(`${page}: ${href}`)
  }
}
if (dead.length) throw new Error(`dead links:\n${[...new Set(dead)].join('\n')}`)
if (checked < 1000) throw new Error(`checked ${checked} links, want 1,000 at least: has their form changed?`)
console.log(`manual: ${pages.size} pages, ${checked} links, in ${out}`)
