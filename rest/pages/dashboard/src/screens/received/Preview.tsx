import { Monitor, Moon, Smartphone } from 'lucide-react'
import { useMemo, useState } from 'react'
import { HtmlPreview } from '@/parts/HtmlPreview'
import { SegmentedControl } from '@/parts/Tabs'

interface Picture {
  contentId: string
  type: string
  data: string
}

// Preview shows untrusted HTML with the images that the message contains.
export function Preview({ html, title, pictures }: { html: string; title: string; pictures: Picture[] }) {
  const page = useMemo(() => withPictures(html, pictures), [html, pictures])
  const [on, setOn] = useState<'desktop' | 'mobile'>('desktop')
  const [dark, setDark] = useState(false)
  return (
    <div className="grid gap-3">
      <div className="flex items-center gap-2 max-md:hidden">
        <SegmentedControl label="Preview as" value={on} onChange={setOn} choices={[{ key: 'desktop', name: 'Desktop', icon: <Monitor aria-hidden className="!size-3.5" /> }, { key: 'mobile', name: 'Phone', icon: <Smartphone aria-hidden className="!size-3.5" /> }]} />
        <button type="button" aria-pressed={dark} className="btn sm aria-pressed:bg-press" onClick={() => setDark(!dark)}><Moon aria-hidden />Dark</button>
      </div>
      <HtmlPreview html={page} label={title} dark={dark} mobile={on === 'mobile'} className="h-[520px]" />
    </div>
  )
}

// withPictures replaces `cid:` links (RFC 2392) by their images.
function withPictures(html: string, pictures: Picture[]): string {
  return html.replace(/\bcid:([^"'\s<>()\\]+)/gi, (link, id: string) => {
    const own = pictures.find((p) => p.contentId === decode(id) && /^image\/[a-z0-9.+-]+$/.test(p.type))
    return own ? `data:${own.type};base64,${own.data}` : link
  })
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
