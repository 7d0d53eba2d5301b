import { describe, expect, it } from 'vitest'
import { layoutOf, type Box, type Line } from './layout'

const box = (id: string, width = 240, height = 60): Box => ({ id, width, height })
const line = (from: string, to: string): Line => ({ id: `${from}-${to}`, from, to, room: 80 })
const middle = (d: ReturnType<typeof layoutOf>, id: string, width = 240) => (d.boxes.get(id)?.x ?? 0) + width / 2

describe('layout', () => {
  it('puts a chain in one column', () => {
    const d = layoutOf([box('a'), box('b', 100), box('c')], [line('a', 'b'), line('b', 'c')])
    expect([middle(d, 'a'), middle(d, 'b', 100), middle(d, 'c')]).toEqual([120, 120, 120])
    expect(d.width).toBe(240)
    expect([...d.boxes.values()].map((p) => p.y)).toEqual([0, 124, 248])
  })

  it('puts what decides above the middle of its ways, in their order', () => {
    const d = layoutOf([box('q'), box('yes'), box('no'), box('z')], [line('q', 'yes'), line('q', 'no'), line('yes', 'z'), line('no', 'z')])
    expect(middle(d, 'yes')).toBeLessThan(middle(d, 'no'))
    expect(middle(d, 'q')).toBeCloseTo((middle(d, 'yes') + middle(d, 'no')) / 2)
    expect(middle(d, 'z')).toBeCloseTo(middle(d, 'q'))
    expect(d.labels.get('q-no')?.x).toBeCloseTo(middle(d, 'no'))
  })

  it('leads a long line around the boxes between', () => {
    const d = layoutOf([box('q'), box('yes'), box('more'), box('z')], [line('q', 'yes'), line('q', 'z'), line('yes', 'more'), line('more', 'z')])
    for (const p of d.lines.get('q-z')?.slice(1, -1) ?? []) expect(Math.abs(p.x - middle(d, 'yes'))).toBeGreaterThan(120)
  })

  it('leaves out lines that lead nowhere or back', () => {
    const d = layoutOf([box('a'), box('b')], [line('b', 'a'), line('a', 'gone'), line('a', 'b')])
    expect([...d.lines.keys()]).toEqual(['a-b'])
    expect(layoutOf([], [])).toMatchObject({ width: 0, height: 0 })
  })

  it('lets no two boxes meet and every line go down, whatever the graph', () => {
    let seed = 3
    const dice = (n: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
      return Math.floor((seed / 2_147_483_648) * n)
    }
    const wrong: string[] = []
    for (let round = 0; round < 60; round++) {
      const n = 2 + dice(24)
      const boxes = Array.from({ length: n }, (_, i) => box(`b${i}`, 60 + dice(200), 30 + dice(80)))
      const lines = boxes.flatMap((_, i) => (i + 1 === n ? [] : Array.from({ length: 1 + dice(3) }, (_, k) => ({ ...line(`b${i}`, `b${i + 1 + dice(Math.min(6, n - i - 1))}`), id: `${i} ${k}` }))))
      const d = layoutOf(boxes, lines)
      const at = boxes.map((b) => ({ ...b, ...(d.boxes.get(b.id) as { x: number; y: number }) }))
      const edge = Math.min(...at.map((a) => a.x), ...[...d.lines.values()].flat().map((q) => q.x - 80))
      if (edge > 0.01) wrong.push(`${round}: ${edge} is empty on the left`)
      for (const [i, a] of at.entries()) {
        if (a.x < -0.01 || a.x + a.width > d.width + 0.01) wrong.push(`${round}: ${a.id} is outside`)
        for (const b of at.slice(i + 1)) if (a.x + a.width > b.x + 0.01 && b.x + b.width > a.x + 0.01 && a.y + a.height >= b.y && b.y + b.height >= a.y) wrong.push(`${round}: ${a.id} meets ${b.id}`)
      }
      for (const [id, points] of d.lines) {
        for (const [i, p] of points.entries()) {
          const before = points[i - 1]
          if (before && p.y < before.y) wrong.push(`${round}: ${id} goes up`)
          if (!before || before.x !== p.x || i === points.length - 1) continue
          for (const b of at) if (p.x > b.x && p.x < b.x + b.width && before.y < b.y + b.height && p.y > b.y) wrong.push(`${round}: ${id} goes through ${b.id}`)
        }
      }
    }
    expect(wrong).toEqual([])
  })
})
