// Line is a line of two texts: in both, only in the first (removed) or only in the second (added).
export interface Line {
  kind: 'same' | 'gone' | 'new'
  text: string
}

const most = 4_000_000 // cells of the table: 2,000 lines on each side

// difference compares two texts by lines. If they are too large, everything that differs is removed and added.
export function difference(before: string, after: string): Line[] {
  const [a, b] = [before.split('\n'), after.split('\n')]
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  const kept = (from: string[]) => from.map((text) => ({ kind: 'same' as const, text }))
  return [...kept(a.slice(0, start)), ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)), ...kept(a.slice(a.length - end))]
}

// middle finds the longest common lines.
function middle(a: string[], b: string[]): Line[] {
  const gone = (text: string): Line => ({ kind: 'gone', text })
  const came = (text: string): Line => ({ kind: 'new', text })
  if (a.length * b.length > most || a.length === 0 || b.length === 0) return [...a.map(gone), ...b.map(came)]
  const width = b.length + 1
  const common = new Uint32Array((a.length + 1) * width)
  const at = (i: number, j: number) => common[i * width + j] ?? 0
  for (let i = a.length - 1; i >= 0; i--) for (let j = b.length - 1; j >= 0; j--) common[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  const out: Line[] = []
  let [i, j] = [0, 0]
  while (i < a.length && j < b.length) {
    const [x, y] = [a[i] ?? '', b[j] ?? '']
    if (x === y) {
      out.push({ kind: 'same', text: x })
      i++
      j++
    } else if (at(i + 1, j) >= at(i, j + 1)) {
      out.push(gone(x))
      i++
    } else {
      out.push(came(y))
      j++
    }
  }
  return [...out, ...a.slice(i).map(gone), ...b.slice(j).map(came)]
}

export interface Block {
  // skipped is the number of equal lines that are hidden before it.
  skipped: number
  lines: Line[]
}

// blocks hides equal lines, except for a few around each change.
export function blocks(lines: Line[], around = 3): Block[] {
  const near = lines.map((_, i) => lines.slice(Math.max(0, i - around), i + around + 1).some((l) => l.kind !== 'same'))
  const out: Block[] = []
  let skipped = 0
  for (const [i, line] of lines.entries()) {
    if (!near[i]) {
      skipped++
      continue
    }
    const last = out.at(-1)
    if (!last || skipped > 0) out.push({ skipped, lines: [line] })
    else last.lines.push(line)
    skipped = 0
  }
  return out
}
