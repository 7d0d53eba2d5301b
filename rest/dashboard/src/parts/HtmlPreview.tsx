import { ImageOff } from 'lucide-react'
import { useEffect, useId, useMemo, useRef, useState } from 'react'

// clean takes out of a stranger's HTML what would reach the network past a policy, and counts the
// pictures that lie elsewhere. Scripts need not be taken out: the frame runs none.
export function clean(html: string, pictures = false): { html: string; remote: number } {
  const page = new DOMParser().parseFromString(html, 'text/html')
  page.querySelectorAll('link, meta[http-equiv], base, script, object, embed, iframe, frame, portal').forEach((e) => e.remove())
  const far = /^\s*(https?:)?\/\//i
  let remote = 0
  for (const e of page.querySelectorAll('img, source, input[type=image], video, audio, [background]')) {
    const names = ['src', 'srcset', 'poster', 'background'].filter((name) => far.test(e.getAttribute(name) ?? ''))
    if (names.length > 0) remote++
    if (!pictures) names.forEach((name) => e.removeAttribute(name)) // the policy would block them, with an error for each
  }
  remote += page.documentElement.outerHTML.match(/url\(\s*(['"]|&quot;)?\s*(https?:)?\/\//gi)?.length ?? 0
  return { html: `<!doctype html>${page.documentElement.outerHTML}`, remote }
}

interface Props {
  html: string
  label: string
  dark?: boolean
  mobile?: boolean
  className?: string
}

// HtmlPreview shows HTML that a stranger may have written: no script, no form, no link out of the
// frame, and pictures from elsewhere only once somebody asks for them. The server sends it back with
// a policy of its own, since a frame made here would have that of this page.
export function HtmlPreview({ html, label, dark, mobile, className = 'h-[600px]' }: Props) {
  const [pictures, setPictures] = useState(false)
  const cleaned = useMemo(() => clean(html, pictures), [html, pictures])
  return (
    <div className="grid min-h-0 gap-3">
      {cleaned.remote > 0 && (
        <p className="flex items-center gap-2 rounded-control bg-sunken px-3 py-2 text-xs text-ink-2">
          <ImageOff aria-hidden className="!size-3.5" />
          {pictures ? 'Pictures from elsewhere are shown: who sent them can see that.' : `${cleaned.remote} ${cleaned.remote === 1 ? 'picture lies' : 'pictures lie'} elsewhere and ${cleaned.remote === 1 ? 'is' : 'are'} blocked.`}
          <button type="button" className="link under ml-auto" onClick={() => setPictures(!pictures)}>{pictures ? 'Block pictures' : 'Load pictures'}</button>
        </p>
      )}
      <div className={`overflow-hidden rounded-card border border-line ${dark ? 'bg-[#1b1b1b]' : 'bg-white'} ${mobile ? 'grid place-items-center py-4' : ''}`}>
        <Frame key={`${pictures} ${cleaned.html.length} ${cleaned.html.slice(0, 200)}`} html={cleaned.html} label={label} pictures={pictures} className={`block border-0 ${mobile ? 'h-[640px] w-[375px] max-w-full rounded-card border border-line' : `w-full ${className}`} ${dark ? '[color-scheme:dark]' : '[color-scheme:light]'}`} />
      </div>
    </div>
  )
}

function Frame({ html, label, pictures, className }: { html: string; label: string; pictures: boolean; className: string }) {
  const name = `preview-${useId()}`
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => form.current?.submit(), [html, pictures])
  return (
    <>
      <form ref={form} hidden method="post" action="/preview" encType="multipart/form-data" target={name}>
        <input type="hidden" name="pictures" value={pictures ? 'yes' : ''} readOnly />
        <textarea name="html" value={html} readOnly tabIndex={-1} aria-hidden />
      </form>
      <iframe name={name} title={label} sandbox="" referrerPolicy="no-referrer" className={className} />
    </>
  )
}
