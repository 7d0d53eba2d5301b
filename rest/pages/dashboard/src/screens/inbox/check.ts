// Checks for problems with mail clients and for mistakes in emails. They run in the browser and fetch nothing, so
// checking a link does not open it.

export interface Finding {
  tone: 'bad' | 'warn' | 'ok'
  what: string
  why: string
}

export interface FoundLink {
  href: string
  text: string
  // wrong is the problem; empty if the value is valid.
  wrong: string
}

const clipped = 102 * 1024 // Gmail shows no more of a message

// Elements and properties that clients strip or do not support, and these clients.
const elements: [selector: string, what: string, why: string, tone: Finding['tone']][] = [
  ['script', 'A script', 'Never runs in email clients, and many filters treat it as an attack.', 'bad'],
  ['form, input, select, textarea', 'A form', 'Gmail shows a warning, Outlook removes it. Link to a web page instead.', 'bad'],
  ['iframe, object, embed', 'A frame or an object', 'Removed by email clients.', 'bad'],
  ['link[rel~=stylesheet]', 'An external stylesheet', 'Ignored by Gmail and Outlook. Put styles in the email; publishing a template inlines them.', 'bad'],
  ['video, audio', 'Video or audio', 'Plays only in Apple Mail. Use an image that links to a page.', 'warn'],
  ['svg', 'Inline SVG', 'Not shown by Gmail and Outlook. Use a PNG.', 'warn'],
  ['img[src^="data:" i]', 'An image as a data URL', 'Not shown by Gmail and Outlook. Attach it and use cid:, or use its URL.', 'warn'],
]
const properties: [pattern: RegExp, what: string, why: string][] = [
  [/display\s*:\s*(inline-)?flex/i, 'Flexbox', 'Ignored by Outlook on Windows. Table layouts work everywhere.'],
  [/display\s*:\s*(inline-)?grid/i, 'CSS grid', 'Ignored by Outlook on Windows and several webmail clients.'],
  [/position\s*:\s*(absolute|fixed|sticky)/i, 'position', 'Ignored by Gmail and Outlook, so elements may overlap.'],
  [/var\s*\(\s*--/i, 'CSS variables', 'Not supported by Outlook and older Gmail apps, so colors are lost.'],
  [/@font-face|@import/i, 'External fonts or styles', 'Most clients use their own font. Add a fallback font.'],
  [/background(-image)?\s*:[^;"']*url\(/i, 'A background image', 'Not shown by Outlook on Windows, so text on it may be unreadable.'],
]

export interface Judged {
  html: string
  text: string
  subject: string
  size: number
  headers: { name: string; value: string }[]
}

// check lists how clients will treat an email.
export function check(mail: Judged): Finding[] {
  const found: Finding[] = []
  const say = (tone: Finding['tone'], what: string, why: string) => found.push({ tone, what, why })
  if (!mail.subject.trim()) say('bad', 'No subject', 'Spam filters penalize it, and people don’t open it.')
  if (mail.html) {
    const doc = new DOMParser().parseFromString(mail.html, 'text/html')
    for (const [selector, what, why, tone] of elements) if (doc.querySelector(selector)) say(tone, what, why)
    const style = [...doc.querySelectorAll('style')].map((s) => s.textContent ?? '').concat([...doc.querySelectorAll('[style]')].map((e) => e.getAttribute('style') ?? '')).join('\n')
    for (const [pattern, what, why] of properties) if (pattern.test(style)) say('warn', what, why)
    const silent = [...doc.querySelectorAll('img')].filter((i) => !i.hasAttribute('alt') && !isPixel(i)).length
    if (silent > 0) say('warn', silent === 1 ? 'An image without alt text' : `${silent} images without alt text`, 'Many clients block images by default and show only the alt text.')
    if (!doc.documentElement.lang) say('warn', 'No language', '<html lang="…">sets the language of screen readers.')
    const gap = /\{\{.*?\}\}|\{%.*?%\}/.exec(doc.body.textContent ?? '')?.[0]
    if (gap) say('bad', 'An unfilled variable', `${gap} appears in the email.`)
    const bytes = new TextEncoder().encode(mail.html).length
    if (bytes > clipped) say('warn', `${Math.round(bytes / 1024)} kB of HTML`, 'Gmail clips emails over 102 kB, which hides the unsubscribe link and the tracking image.')
    if (!mail.text.trim()) say('warn', 'No text part', 'Spam filters penalize it, and some people read plain text only.')
  }
  const gap = /\{\{.*?\}\}/.exec(mail.subject)?.[0]
  if (gap) say('bad', 'An unfilled variable in the subject', `${gap} was not filled.`)
  return found
}

// isPixel reports whether an image counts opens.
const isPixel = (i: HTMLImageElement) => i.getAttribute('width') === '1' || /\/t\/o\//.test(i.getAttribute('src') ?? '')

// links returns all links of an email, each with its problem.
export function links(html: string): FoundLink[] {
  const doc = new DOMParser().parseFromString(html, 'text/html')
  return [...doc.querySelectorAll('a, area')].map((a) => {
    const href = (a.getAttribute('href') ?? '').trim()
    const text = (a.textContent ?? '').replace(/\s+/g, ' ').trim() || a.querySelector('img')?.getAttribute('alt') || ''
    return { href, text, wrong: wrongOf(href, text) }
  })
}

function wrongOf(href: string, text: string): string {
  if (!href || href === '#') return 'Has no target.'
  if (/\{\{|\{%|%7B%7B/i.test(href)) return 'Contains an unfilled variable.'
  if (/^(mailto|tel|sms):/i.test(href)) return ''
  let url: URL
  try {
    url = new URL(href)
  } catch {
    return 'Not an absolute URL. Relative links don’t work in emails.'
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return `Clients don’t open ${url.protocol} links`
  if (/^\/[tu]\//.test(url.pathname)) return '' // a link of this service: of clicks that are counted, or to unsubscribe
  if (/^(localhost|127\.|0\.0\.0\.0|10\.|192\.168\.|\[::1\])/.test(url.hostname)) return 'Points to this machine or its network, which recipients can’t reach.'
  if (url.protocol === 'http:') return 'Not encrypted. Use https.'
  const shown = /^https?:\/\/([^/\s]+)/i.exec(text)?.[1]
  if (shown && shown.toLowerCase() !== url.host.toLowerCase()) return `The link text says ${shown}, which spam filters treat as phishing.`
  return text ? '' : 'Has no text, so screen readers can’t announce it.'
}
