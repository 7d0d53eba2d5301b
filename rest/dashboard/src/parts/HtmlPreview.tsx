import { ImageOff } from 'lucide-react'
import { useEffect, useId, useMemo, useRef, useState } from 'react'

const attribute = /<[a-z][^>]*?\s(?:src|srcset|poster|background)\s*=\s*["']?\s*(?:https?:)?\/\//gi
const style = /url\(\s*(?:["']|&quot;)?\s*(?:https?:)?\/\//gi

// elsewhere counts what an email would load from others. It looks at the text: a document that the app
// parses has the policy of the app, and each style in it would be complained of.
export const elsewhere = (html: string) => (html.match(attribute)?.length ?? 0) + (html.match(style)?.length ?? 0)

interface Props {
  html: string
  label: string
  dark?: boolean
  mobile?: boolean
  className?: string
}

// HtmlPreview shows HTML that a stranger may have written: no script, no form, no link out of the
// frame, and pictures from elsewhere only once somebody asks for them. The server sends it back cleaned
// and with a policy of its own, since a frame made here would have that of this page.
export function HtmlPreview({ html, label, dark, mobile, className = 'h-[600px]' }: Props) {
  const [pictures, setPictures] = useState(false)
  const remote = useMemo(() => elsewhere(html), [html])
  return (
    <div className="grid min-h-0 gap-3">
      {remote > 0 && (
        <p className="flex items-center gap-2 rounded-control bg-sunken px-3 py-2 text-xs text-ink-2">
          <ImageOff aria-hidden className="!size-3.5" />
          {pictures ? 'Pictures from elsewhere are shown: who sent them can see that.' : `${remote} ${remote === 1 ? 'picture lies' : 'pictures lie'} elsewhere and ${remote === 1 ? 'is' : 'are'} blocked.`}
          <button type="button" className="link under ml-auto" onClick={() => setPictures(!pictures)}>{pictures ? 'Block pictures' : 'Load pictures'}</button>
        </p>
      )}
      <div className={`overflow-hidden rounded-card border border-line ${dark ? 'bg-[#1b1b1b]' : 'bg-white'} ${mobile ? 'grid place-items-center py-4' : ''}`}>
        <Frame key={`${pictures} ${html.length} ${html.slice(0, 200)}`} html={html} label={label} pictures={pictures} className={`block border-0 ${mobile ? 'h-[640px] w-[375px] max-w-full rounded-card border border-line' : `w-full ${className}`} ${dark ? '[color-scheme:dark]' : '[color-scheme:light]'}`} />
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
