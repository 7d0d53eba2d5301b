import { ImageOff } from 'lucide-react'
import { useEffect, useId, useMemo, useRef, useState, type CSSProperties } from 'react'

const attributePattern = /<[a-z][^>]*?\s(?:src|srcset|poster|background)\s*=\s*["']?\s*(?:https?:)?\/\//gi
const stylePattern = /url\(\s*(?:["']|&quot;)?\s*(?:https?:)?\/\//gi

// The server shows them from its own host only. The page may have another address.
const ownImage = /https?:\/\/[^/"'\s>]+\/files\/images\/img_[0-9a-z]{26}\.(?:png|jpeg|gif)/g

// countRemoteContent counts the resources that an email would load from other hosts. It searches the
// text, because parsing the document in the app would report policy violations for its styles.
// The images of templates are ours, and always shown.
export function countRemoteContent(html: string): number {
  const text = html.replace(ownImage, '')
  return (text.match(attributePattern)?.length ?? 0) + (text.match(stylePattern)?.length ?? 0)
}

// hasDarkStyles reports whether an email adapts to dark mode.
export const hasDarkStyles = (html: string) => /prefers-color-scheme|color-scheme\s*:[^;}]*\bdark\b|<meta[^>]+color-scheme[^>]+dark/i.test(html)

interface Props {
  html: string
  label: string
  // dark emulates a color scheme: the server rewrites the email's media queries. Without it, the email sees that of the browser.
  dark?: boolean
  mobile?: boolean
  className?: string
}

// The widths in CSS pixels that emails are laid out for: most are 600 wide, and common phones have 375.
const desktopWidth = 640
const phoneWidth = 375

// HtmlPreview shows untrusted HTML without scripts, forms or links out of the frame. Remote images load
// only on request. The server sanitizes the HTML and sends it with its own policy, because a frame
// created here would inherit the policy of this page. The frame has the width of the emulated device; if there
// is less space, it is scaled, so that the email’s media queries still see that width.
export function HtmlPreview({ html, label, dark, mobile, className = 'h-[600px]' }: Props) {
  const [showRemote, setShowRemote] = useState(false)
  const remote = useMemo(() => countRemoteContent(html), [html])
  const [box, space] = useWidth()
  const width = mobile ? phoneWidth : Math.max(desktopWidth, space)
  const scale = space > 0 ? Math.min(1, space / width) : 1
  return (
    <div className="grid min-h-0 gap-3">
      {remote > 0 && (
        <p className="flex items-center gap-2 rounded-control bg-sunken px-3 py-2 text-xs text-ink-2">
          <ImageOff aria-hidden className="!size-3.5" />
          {showRemote ? 'Remote images are loaded, so the sender can see that this email was opened.' : `${remote} remote ${remote === 1 ? 'image' : 'images'} blocked.`}
          <button type="button" className="link under ml-auto" onClick={() => setShowRemote(!showRemote)}>{showRemote ? 'Block images' : 'Load images'}</button>
        </p>
      )}
      {dark && !hasDarkStyles(html) && <p className="text-xs text-ink-2">This email has no dark styles. Some apps change its colors on their own.</p>}
      <div className={`overflow-hidden rounded-card border border-line ${dark ? 'bg-[#1b1b1b]' : 'bg-white'}`}>
        <div ref={box} className={`relative overflow-hidden ${mobile ? 'h-[667px]' : className}`}>
          <Frames
            html={html} label={label} pictures={showRemote} scheme={dark === undefined ? '' : dark ? 'dark' : 'light'} dark={Boolean(dark)}
            style={{ width, height: `${100 / scale}%`, left: Math.max(0, (space - width * scale) / 2), transform: `scale(${scale})`, transformOrigin: '0 0' }}
          />
        </div>
      </div>
    </div>
  )
}

function useWidth() {
  const box = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    if (!box.current) return
    const watch = new ResizeObserver(([e]) => e && setWidth(e.contentRect.width))
    watch.observe(box.current)
    return () => watch.disconnect()
  }, [])
  return [box, width] as const
}

interface Content {
  html: string
  pictures: boolean
  scheme: string
}

interface FrameProps extends Content {
  label: string
  dark: boolean
  style: CSSProperties
}

// Frames shows the last document until the next one is loaded, so that a preview does not flash while its text is
// edited. Each document has a frame of its own, because a second one in the same frame would add to the history.
function Frames({ html, pictures, scheme, ...frame }: FrameProps) {
  const next = useRef(0)
  const [list, setList] = useState<(Content & { key: number })[]>([])
  useEffect(() => {
    setList((shown) => [...shown.slice(0, 1), { html, pictures, scheme, key: next.current++ }])
  }, [html, pictures, scheme])
  return list.map((content, i) => <Frame key={content.key} {...frame} content={content} waiting={i > 0} ready={() => setList((now) => now.filter((c) => c.key >= content.key))} />)
}

function Frame({ content, label, dark, style, waiting, ready }: Omit<FrameProps, keyof Content> & { content: Content; waiting: boolean; ready: () => void }) {
  const name = `preview-${useId()}`
  const form = useRef<HTMLFormElement>(null)
  const sent = useRef(false)
  useEffect(() => {
    form.current?.submit()
    sent.current = true
  }, [])
  return (
    <>
      <form ref={form} hidden method="post" action="/preview" encType="multipart/form-data" target={name}>
        <input type="hidden" name="pictures" value={content.pictures ? 'yes' : ''} readOnly />
        <input type="hidden" name="scheme" value={content.scheme} readOnly />
        <textarea name="html" value={content.html} readOnly tabIndex={-1} aria-hidden />
      </form>
      <iframe
        name={name} title={waiting ? `${label} (loading)` : label} aria-hidden={waiting || undefined} sandbox="" referrerPolicy="no-referrer" style={style} onLoad={() => sent.current && ready()}
        className={`absolute top-0 block border-0 ${waiting ? 'invisible' : ''} ${dark ? '[color-scheme:dark]' : '[color-scheme:light]'}`}
      />
    </>
  )
}
