import encodeQR from 'qr'

// modules are the dark and light squares of a code, with the light border that cameras need (ISO/IEC
// 18004, 5.3.8).
export const modules = (text: string): boolean[][] => encodeQR(text, 'raw', { ecc: 'medium', border: 4 })

// QrCode draws a text as a QR code: dark on light in both themes, because some apps cannot read inverted codes.
export default function QrCode({ text, label }: { text: string; label: string }) {
  const rows = modules(text)
  return (
    <svg role="img" aria-label={label} viewBox={`0 0 ${rows.length} ${rows.length}`} shapeRendering="crispEdges" className="size-44 rounded-control">
      <rect width={rows.length} height={rows.length} fill="#fff" />
      <path d={outline(rows)} fill="#000" />
    </svg>
  )
}

// outline is a bar for each run of dark modules in a row.
export function outline(rows: boolean[][]): string {
  let d = ''
  rows.forEach((row, y) => {
    for (let x = 0; x < row.length; x++) {
      if (!row[x]) continue
      const from = x
      while (row[x + 1]) x++
      d += `M${from} ${y}h${x + 1 - from}v1H${from}z`
    }
  })
  return d
}
