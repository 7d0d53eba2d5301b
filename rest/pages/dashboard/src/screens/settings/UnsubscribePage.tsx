// UnsubscribePage edits the appearance of the page, with a preview on white like the page itself.
export function UnsubscribePage({ name, color, logo }: { name: string; color: string; logo: string }) {
  const fill = /^#[0-9a-f]{6}$/i.test(color) ? color : '#2350d0'
  return (
    <figure className="grid content-start gap-2">
      <figcaption className="text-xs text-ink-3">Preview</figcaption>
      <div aria-hidden className="grid justify-items-start gap-3 rounded-card border border-line bg-[#ffffff] p-6 text-[#1c1b19]">
        {logo && <img src={`data:image/png;base64,${logo}`} alt="" className="max-h-12" />}
        {name && <p className="text-lg font-semibold">{name}</p>}
        <p>You will no longer receive these emails from <b className="font-semibold">your-domain.example</b> at ada@example.com.</p>
        <span className="inline-flex h-9 items-center rounded-control px-4 font-medium" style={{ background: fill, color: readable(fill) }}>Unsubscribe</span>
      </div>
    </figure>
  )
}

// readable returns black or white, whichever is readable on the color.
function readable(color: string): string {
  const part = (at: number) => {
    const c = parseInt(color.slice(at, at + 2), 16) / 255
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4
  }
  return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5) > 0.179 ? '#000000' : '#ffffff'
}
