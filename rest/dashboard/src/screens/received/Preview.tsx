import { useEffect, useMemo, useState } from 'react'
import { ImageOff } from 'lucide-react'

// The policy of a stranger's page: no script, nothing from any network.
const policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:; form-action 'none'; base-uri 'none'"

interface Picture {
  contentId: string
  type: string
  data: string
}

// Preview shows a stranger's HTML: in a frame without scripts, without an origin and without the
// network. `pictures` are those that the message itself brings.
export function Preview({ html, title, pictures = [] }: { html: string; title: string; pictures?: Picture[] }) {
  const { page, remote } = useMemo(() => pageOf(html, pictures), [html, pictures])
  const [narrow, setNarrow] = useState(false)
  useEffect(() => setNarrow(false), [html])
  return (
    <div className="grid gap-2">
      <div className="flex flex-wrap items-center gap-2 text-xs text-ink-3">
        {remote > 0 && <span className="inline-flex items-center gap-1"><ImageOff aria-hidden className="!size-3.5" />{remote === 1 ? '1 remote file was not loaded' : `${remote} remote files were not loaded`}</span>}
        <button type="button" aria-pressed={narrow} className="btn sm ml-auto max-md:hidden" onClick={() => setNarrow(!narrow)}>{narrow ? 'Full width' : 'Phone width'}</button>
      </div>
      <iframe sandbox="" referrerPolicy="no-referrer" title={title} srcDoc={page} className={`h-[520px] rounded-card border border-line bg-[#fff] ${narrow ? 'w-[375px] max-w-full' : 'w-full'}`} />
    </div>
  )
}

// pageOf puts the policy before everything else, the message's own pictures in their places, and the
// nonce on its styles, without which the policy of our own page would keep them out.
function pageOf(html: string, pictures: Picture[]): { page: string; remote: number } {
  const doc = new DOMParser().parseFromString(html, 'text/html')
  let remote = 0
  for (const el of doc.querySelectorAll('script, base, link, meta[http-equiv], object, embed, iframe')) el.remove()
  for (const img of doc.querySelectorAll('[src], [background]')) {
    const name = img.hasAttribute('src') ? 'src' : 'background'
    const source = img.getAttribute(name)?.trim() ?? ''
    if (/^cid:/i.test(source)) {
      const id = decode(source.slice(4))
      const own = pictures.find((p) => p.contentId === id && /^image\/[a-z0-9.+-]+$/.test(p.type))
      if (own) img.setAttribute(name, `data:${own.type};base64,${own.data}`)
    } else if (source && !/^data:/i.test(source)) {
      remote++
      img.removeAttribute(name)
    }
  }
  for (const el of doc.querySelectorAll('[srcset]')) el.removeAttribute('srcset')
  for (const el of doc.querySelectorAll('*')) {
    for (const { name, value } of Array.from(el.attributes)) if (/^on/i.test(name) || /^\s*javascript:/i.test(value)) el.removeAttribute(name)
  }
  const nonce = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content
  if (nonce) for (const style of doc.querySelectorAll('style')) style.setAttribute('nonce', nonce)
  const meta = doc.createElement('meta')
  meta.httpEquiv = 'Content-Security-Policy'
  meta.content = policy
  doc.head.prepend(meta)
  return { page: `<!doctype html>${doc.documentElement.outerHTML}`, remote }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
