// A layered drawing of a graph in which everything goes down. Each box is below all boxes that lead to it, lines
// that pass a layer have their own place in it, neighbors are ordered to avoid crossings, and each box is as
// close as possible to the boxes that it is connected with.

export interface Box {
  id: string
  width: number
  height: number
}

export interface Line {
  id: string
  from: string
  to: string
  // room is the width of the label.
  room: number
}

export interface Point {
  x: number
  y: number
}

export interface Drawing {
  // boxes are the positions of the upper left corners.
  boxes: Map<string, Point>
  // lines go through these points; the first gap holds the label, at `labels`.
  lines: Map<string, Point[]>
  labels: Map<string, Point>
  width: number
  height: number
}

interface Cell {
  id: string
  width: number
  height: number
  layer: number
  // up and down are the connected cells before and after, with their weights.
  up: [Cell, number][]
  down: [Cell, number][]
  x: number
  place: number
  real: boolean
}

const apart = 28
export const between = 64

export function layoutOf(boxes: Box[], lines: Line[]): Drawing {
  const cells = new Map<string, Cell>(boxes.map((b) => [b.id, { ...b, layer: 0, up: [], down: [], x: 0, place: 0, real: true }]))
  const order = new Map(boxes.map((b, i) => [b.id, i]))
  // Boxes are ordered so that lines go forward.
  const good = lines.filter((l) => (order.get(l.from) ?? 0) < (order.get(l.to) ?? -1))
  const shared = (l: Line) => l.room > 0 && good.some((o) => o.to === l.to && o !== l)
  for (const box of boxes) {
    const from = cells.get(box.id)
    for (const l of good) {
      const to = l.from === box.id ? cells.get(l.to) : undefined
      // If several lines lead to one box, each label has a layer that it shares only with its line.
      if (from && to) to.layer = Math.max(to.layer, from.layer + (shared(l) ? 2 : 1))
    }
  }
  const chains = new Map<string, Cell[]>()
  const extra: Cell[] = []
  for (const l of good) {
    const from = cells.get(l.from) as Cell
    const to = cells.get(l.to) as Cell
    const chain = [from]
    for (let layer = from.layer + 1; layer < to.layer; layer++) {
      const cell: Cell = { id: `${l.id} ${layer}`, width: layer === from.layer + 1 ? Math.max(24, l.room) : 24, height: 0, layer, up: [], down: [], x: 0, place: 0, real: false }
      extra.push(cell)
      chain.push(cell)
    }
    chain.push(to)
    for (let i = 1; i < chain.length; i++) {
      const [a, b] = [chain[i - 1] as Cell, chain[i] as Cell]
      const pull = !a.real && !b.real ? 8 : !a.real || !b.real ? 2 : 1
      a.down.push([b, pull])
      b.up.push([a, pull])
    }
    chains.set(l.id, chain)
  }

  const layers: Cell[][] = []
  const seen = new Set<Cell>()
  const visit = (c: Cell) => {
    if (seen.has(c)) return
    seen.add(c)
    ;(layers[c.layer] ??= []).push(c)
    for (const [next] of c.down) visit(next)
  }
  for (const c of [...cells.values(), ...extra]) visit(c)
  const renumber = (layer: Cell[]) => layer.forEach((c, i) => { c.place = i })
  layers.forEach(renumber)
  arrange(layers, renumber)

  for (const layer of layers) pack(layer, () => null)
  for (let i = 0; i < 20; i++) {
    const down = i % 2 === 0
    for (const layer of down ? layers : [...layers].reverse()) pack(layer, (c) => mean(i > 11 ? [...c.up, ...c.down] : down ? c.up : c.down))
  }
  // A line between two boxes with no other connections is straight.
  for (const layer of layers) pack(layer, (c) => (c.up.length === 1 && c.up[0]?.[0].down.length === 1 ? c.up[0][0].x : null))

  const all = layers.flat()
  const left = all.length > 0 ? Math.min(...all.map((c) => c.x - c.width / 2)) : 0
  const right = all.length > 0 ? Math.max(...all.map((c) => c.x + c.width / 2)) : 0
  const tops: number[] = []
  let y = 0
  for (const layer of layers) {
    tops.push(y)
    y += Math.max(0, ...layer.map((c) => c.height)) + between
  }
  const at = (c: Cell) => c.x - left
  const drawn: Drawing = { boxes: new Map(), lines: new Map(), labels: new Map(), width: right - left, height: Math.max(0, y - between) }
  for (const b of boxes) {
    const c = cells.get(b.id) as Cell
    drawn.boxes.set(b.id, { x: at(c) - c.width / 2, y: tops[c.layer] ?? 0 })
  }
  for (const [id, chain] of chains) {
    const from = chain[0] as Cell
    const points: Point[] = [{ x: at(from), y: (tops[from.layer] ?? 0) + from.height }]
    for (const c of chain.slice(1, -1)) points.push({ x: at(c), y: tops[c.layer] ?? 0 }, { x: at(c), y: (tops[c.layer + 1] ?? 0) - between })
    const to = chain.at(-1) as Cell
    points.push({ x: at(to), y: tops[to.layer] ?? 0 })
    drawn.lines.set(id, points)
    // The label is above the first box of the line, where lines from the same box have diverged.
    drawn.labels.set(id, { x: at(chain[1] as Cell), y: (tops[from.layer + 1] ?? 0) - between * 0.42 })
  }
  return drawn
}

const mean = (all: [Cell, number][]) => (all.length === 0 ? null : all.reduce((n, [c, w]) => n + c.x * w, 0) / all.reduce((n, [, w]) => n + w, 0))

// arrange orders each layer to have few crossings.
function arrange(layers: Cell[][], renumber: (layer: Cell[]) => void) {
  let best = layers.map((l) => [...l])
  let least = crossings(layers)
  for (let round = 0; round < 8 && least > 0; round++) {
    const down = round % 2 === 0
    for (const layer of down ? layers.slice(1) : [...layers].reverse().slice(1)) {
      const wish = new Map(layer.map((c) => {
        const next = down ? c.up : c.down
        return [c, next.length === 0 ? c.place : next.reduce((n, [o]) => n + o.place, 0) / next.length]
      }))
      layer.sort((a, b) => (wish.get(a) ?? 0) - (wish.get(b) ?? 0) || a.place - b.place)
      renumber(layer)
    }
    const now = crossings(layers)
    if (now < least) {
      least = now
      best = layers.map((l) => [...l])
    }
  }
  layers.forEach((_, i) => {
    layers[i] = best[i] ?? []
    renumber(layers[i] ?? [])
  })
}

function crossings(layers: Cell[][]): number {
  let n = 0
  for (const layer of layers) {
    const all = layer.flatMap((c) => c.down.map(([d]) => [c.place, d.place] as const))
    for (const [i, [a, b]] of all.entries()) for (const [c, d] of all.slice(i + 1)) if ((a - c) * (b - d) < 0) n++
  }
  return n
}

// pack assigns each cell of a layer the free place nearest to its wish. Cells that want the same place move
// together (least squares in a fixed order).
function pack(layer: Cell[], wish: (c: Cell) => number | null) {
  const groups: { sum: number; n: number; cells: Cell[]; offsets: number[] }[] = []
  let offset = 0
  for (const [i, c] of layer.entries()) {
    const before = layer[i - 1]
    if (before) offset += before.width / 2 + apart + c.width / 2
    const wanted = wish(c) ?? c.x
    let group = { sum: wanted - offset, n: 1, cells: [c], offsets: [offset] }
    for (let last = groups.at(-1); last && last.sum / last.n > group.sum / group.n; last = groups.at(-1)) {
      groups.pop()
      group = { sum: last.sum + group.sum, n: last.n + group.n, cells: [...last.cells, ...group.cells], offsets: [...last.offsets, ...group.offsets] }
    }
    groups.push(group)
  }
  for (const g of groups) g.cells.forEach((c, i) => { c.x = g.sum / g.n + (g.offsets[i] ?? 0) })
}
