import { ImageOff } from 'lucide-react'
import { useEffect, useId, useMemo, useRef, useState } from 'react'

const attributePattern = /<[a-z][^>]*?\s(?:src|srcset|poster|background)\s*=\s*["']?\s*(?:https?:)?\/\//gi
const stylePattern = /url\(\s*(?:["']|&quot;)?\s*(?:https?:)?\/\//gi

// countRemoteContent counts the resources that an email would load from other hosts. It searches the
// text, because parsing the document in the app would report policy violations for its styles.
export const countRemoteContent = (html: string) => (html.match(attributePattern)?.length ?? 0) + (html.match(stylePattern)?.length ?? 0)

interface Props {
  html: string
  label: string
  dark?: boolean
  mobile?: boolean
  className?: string
}

// HtmlPreview shows untrusted HTML without scripts, forms or links out of the frame. Remote images load
// only on request. The server sanitizes the HTML and sends it with its own policy, because a frame
// created here would inherit the policy of this page.
export function HtmlPreview({ html, label, dark, mobile, className = 'h-[600px]' }: Props) {
  const [showRemote, setShowRemote] = useState(false)
  const remote = useMemo(() => countRemoteContent(html), [html])
  return (
    <div className="grid min-h-0 gap-3">
      {remote > 0 && (
        <p className="flex items-center gap-2 rounded-control bg-sunken px-3 py-2 text-xs text-ink-2">
          <ImageOff aria-hidden className="!size-3.5" />
          {showRemote ? 'Remote images are loaded, so the sender can see that this email was opened.' : `${remote} remote ${remote === 1 ? 'image' : 'images'} blocked.`}
          <button type="button" className="link under ml-auto" onClick={() => setShowRemote(!showRemote)}>{showRemote ? 'Block images' : 'Load images'}</button>
        </p>
      )}
      <div className={`overflow-hidden rounded-card border border-line ${dark ? 'bg-[#1b1b1b]' : 'bg-white'} ${mobile ? 'grid place-items-center py-4' : ''}`}>
        <Frame key={`${showRemote} ${html.length} ${html.slice(0, 200)}`} html={html} label={label} pictures={showRemote} className={`block border-0 ${mobile ? 'h-[640px] w-[375px] max-w-full rounded-card border border-line' : `w-full ${className}`} ${dark ? '[color-scheme:dark]' : '[color-scheme:light]'}`} />
      </div>
    </div>
  )
}

function Frame({ html, label, pictures: showRemote, className }: { html: string; label: string; pictures: boolean; className: string }) {
  const name = `preview-${useId()}`
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => form.current?.submit(), [html, showRemote])
  return (
    <>
      <form ref={form} hidden method="post" action="/preview" encType="multipart/form-data" target={name}>
        <input type="hidden" name="pictures" value={showRemote ? 'yes' : ''} readOnly />
        <textarea name="html" value={html} readOnly tabIndex={-1} aria-hidden />
      </form>
      <iframe name={name} title={label} sandbox="" referrerPolicy="no-referrer" className={className} />
    </>
  )
}
