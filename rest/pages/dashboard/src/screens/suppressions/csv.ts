export interface Line {
  // line is its line number in the file, starting at 1.
  line: number
  address: string
}

// cells parses CSV (RFC 4180; comma, semicolon or tab) and keeps the position of each row.
export function cells(text: string): { line: number; fields: string[] }[] {
  const head = /^.*$/m.exec(text)?.[0] ?? ''
  const separator = [',', ';', '\t'].map((s) => [s, head.split(s).length] as const).sort((a, b) => b[1] - a[1])[0]?.[0] ?? ','
  const rows: { line: number; fields: string[] }[] = []
  let field = ''
  let row: string[] = []
  let line = 1
  let begun = 1
  let quoted = false
  const end = () => {
    row.push(field)
    if (row.some((f) => f.trim() !== '')) rows.push({ line: begun, fields: row.map((f) => f.trim()) })
    row = []
    field = ''
  }
  for (let i = 0; i < text.length; i++) {
    const c = text[i] as string
    if (quoted) {
      if (c === '"' && text[i + 1] === '"') { field += '"'; i++ } else if (c === '"') quoted = false
      else { field += c; if (c === '\n') line++ }
    } else if (c === '"' && field.trim() === '') { quoted = true; field = '' } else if (c === separator) { row.push(field); field = '' } else if (c === '\n') { end(); line++; begun = line } else if (c !== '\r') field += c
  }
  end()
  return rows
}

// addressesOf returns the addresses: the column named email, else the first cell with an @ in each row.
export function addressesOf(text: string): Line[] {
  const rows = cells(text.replace(/^\uFEFF/, ''))
  const first = rows[0]
  const column = first ? first.fields.findIndex((f) => /^(e-?mail|address|email[ _-]?address|recipient)$/i.test(f)) : -1
  return (column >= 0 ? rows.slice(1) : rows).map(({ line, fields }) => ({ line, address: (column >= 0 ? fields[column] : (fields.find((f) => f.includes('@')) ?? fields[0])) ?? '' }))
}
