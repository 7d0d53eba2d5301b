// formatBytes returns a size such as `1.2 MB`.
export function formatBytes(n: number): string {
  if (n < 1000) return `${n} B`
  if (n < 1_000_000) return `${(n / 1000).toFixed(1)} kB`
  return n < 1_000_000_000 ? `${(n / 1_000_000).toFixed(1)} MB` : `${(n / 1_000_000_000).toFixed(1)} GB`
}

// saveFile downloads content as a file.
export function saveFile(content: BlobPart[], name: string, type = 'application/octet-stream') {
  const url = URL.createObjectURL(new Blob(content, { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

export const decodeBase64 = (base64: string): Uint8Array<ArrayBuffer> => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))

const formatCell = (text: string) => `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`

// toCSV encodes rows as CSV. It escapes cells that spreadsheets would run as formulas.
export const toCSV = (rows: string[][]) => rows.map((r) => r.map(formatCell).join(',')).join('\r\n') + '\r\n'
