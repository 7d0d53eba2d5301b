// What mail clients make difficult, and what a program gets wrong in mail. All of it is judged in the browser: nothing
// is fetched, so links of a test lead nowhere by being looked at.

export interface Finding {
  tone: 'bad' | 'warn' | 'ok'
  what: string
  why: string
}

export interface FoundLink {
  href: string
  text: string
  // wrong says what is not right about it; empty for nothing.
  wrong: string
}

const clipped = 102 * 1024 // Gmail shows no more of a message

// Elements and properties that clients strip or do not know, and who does.
const elements: [selector: string, what: string, why: string, tone: Finding['tone']][] = [
  ['script', 'A script', 'No client runs it, and many filters take it for an attack.', 'bad'],
  ['form, input, select, textarea', 'A form', 'Gmail warns, Outlook shows nothing of it. Link to a page instead.', 'bad'],
  ['iframe, object, embed', 'A frame or an object', 'Clients take it out.', 'bad'],
  ['link[rel~=stylesheet]', 'A stylesheet from elsewhere', 'Gmail and Outlook ignore it. Put styles into the message; publishing a template puts them into the elements.', 'bad'],
  ['video, audio', 'Video or audio', 'Apple Mail alone plays it. Show a picture that leads to a page.', 'warn'],
  ['svg', 'SVG inside the message', 'Gmail and Outlook show nothing. Use a PNG.', 'warn'],
  ['img[src^="data:" i]', 'A picture as a data URL', 'Gmail and Outlook do not show it. Attach it and use cid:, or give its URL.', 'warn'],
]
const properties: [pattern: RegExp, what: string, why: string][] = [
  [/display\s*:\s*(inline-)?flex/i, 'Flexbox', 'Outlook on Windows ignores it. Tables hold a layout everywhere.'],
  [/display\s*:\s*(inline-)?grid/i, 'CSS grid', 'Outlook on Windows and several webmails ignore it.'],
  [/position\s*:\s*(absolute|fixed|sticky)/i, 'position', 'Gmail and Outlook ignore it: parts may lie over each other.'],
  [/var\s*\(\s*--/i, 'CSS variables', 'Outlook and old Gmail apps do not know them: colors fall away.'],
  [/@font-face|@import/i, 'Fonts or styles from elsewhere', 'Most clients use a font of their own. Name one to fall back to.'],
  [/background(-image)?\s*:[^;"']*url\(/i, 'A picture as background', 'Outlook on Windows does not show it: text on it may be unreadable.'],
]

export interface Judged {
  html: string
  text: string
  subject: string
  size: number
  headers: { name: string; value: string }[]
}

// check judges a mail as clients will treat it.
export function check(mail: Judged): Finding[] {
  const found: Finding[] = []
  const say = (tone: Finding['tone'], what: string, why: string) => found.push({ tone, what, why })
  if (!mail.subject.trim()) say('bad', 'No subject', 'Filters mind, and people do not open it.')
  if (mail.html) {
    const doc = new DOMParser().parseFromString(mail.html, 'text/html')
    for (const [selector, what, why, tone] of elements) if (doc.querySelector(selector)) say(tone, what, why)
    const style = [...doc.querySelectorAll('style')].map((s) => s.textContent ?? '').concat([...doc.querySelectorAll('[style]')].map((e) => e.getAttribute('style') ?? '')).join('\n')
    for (const [pattern, what, why] of properties) if (pattern.test(style)) say('warn', what, why)
    const silent = [...doc.querySelectorAll('img')].filter((i) => !i.hasAttribute('alt') && !isPixel(i)).length
    if (silent > 0) say('warn', silent === 1 ? 'A picture without alt' : `${silent} pictures without alt`, 'Many clients show no picture until they are asked: there is only the alt text then.')
    if (!doc.documentElement.lang) say('warn', 'No language', '<html lang="…"> tells screen readers how to read it aloud.')
    const gap = /\{\{.*?\}\}|\{%.*?%\}/.exec(doc.body.textContent ?? '')?.[0]
    if (gap) say('bad', 'A gap that was not filled', `${gap} stands in the message.`)
    const octets = new TextEncoder().encode(mail.html).length
    if (octets > clipped) say('warn', `${Math.round(octets / 1024)} kB of HTML`, 'Gmail clips a message at 102 kB, and with it the link to unsubscribe and the picture that counts opens.')
    if (!mail.text.trim()) say('warn', 'No text part', 'Filters mind it, and some people read text only.')
  }
  const gap = /\{\{.*?\}\}/.exec(mail.subject)?.[0]
  if (gap) say('bad', 'A gap in the subject', `${gap} was not filled.`)
  return found
}

// isPixel tells the picture that counts opens.
const isPixel = (i: HTMLImageElement) => i.getAttribute('width') === '1' || /\/t\/o\//.test(i.getAttribute('src') ?? '')

// links are all links of a mail, with what is wrong about each.
export function links(html: string): FoundLink[] {
  const doc = new DOMParser().parseFromString(html, 'text/html')
  return [...doc.querySelectorAll('a, area')].map((a) => {
    const href = (a.getAttribute('href') ?? '').trim()
    const text = (a.textContent ?? '').replace(/\s+/g, ' ').trim() || a.querySelector('img')?.getAttribute('alt') || ''
    return { href, text, wrong: wrongOf(href, text) }
  })
}

function wrongOf(href: string, text: string): string {
  if (!href || href === '#') return 'It leads nowhere.'
  if (/\{\{|\{%|%7B%7B/i.test(href)) return 'A gap in it was not filled.'
  if (/^(mailto|tel|sms):/i.test(href)) return ''
  let url: URL
  try {
    url = new URL(href)
  } catch {
    return 'It is not absolute: a mail has no page that it could be relative to.'
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return `Clients do not follow ${url.protocol}`
  if (/^\/[tu]\//.test(url.pathname)) return '' // a link of this service: of clicks that are counted, or to unsubscribe
  if (/^(localhost|127\.|0\.0\.0\.0|10\.|192\.168\.|\[::1\])/.test(url.hostname)) return 'It leads to this machine or its network, where nobody else comes.'
  if (url.protocol === 'http:') return 'It is not encrypted: https is expected.'
  const shown = /^https?:\/\/([^/\s]+)/i.exec(text)?.[1]
  if (shown && shown.toLowerCase() !== url.host.toLowerCase()) return `Its text says ${shown}, which filters take for a fraud.`
  return text ? '' : 'It has no text: screen readers say nothing.'
}
