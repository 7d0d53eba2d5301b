// The boxes and lines of a scene, with their positions.
import type { Edge, Node } from '@xyflow/react'
import { layoutOf, type Box, type Line, type Point } from '../model/layout'
import type { Place } from '../model/edit'
import { END, isEnd, keyOfStep, ways } from '../model/ways'
import type { Scene } from '../scene'

export interface WayData extends Record<string, unknown> {
  points: Point[]
  label: string
  // at is the position of the label and of the button that adds a step.
  at: Point
  place: Place | null
  about: string
  taken: boolean
  dim: boolean
}

export type FlowNode = Node<{ key: string; failed?: boolean }, 'step' | 'end'>
export type FlowEdge = Edge<WayData, 'way'>

export const nodeWidth = 248

const heightOf = (scene: Scene, key: string) => 58 + ((scene.figures.get(key)?.stats.entered ?? 0) > 0 ? 25 : 0) + (scene.troubles.some((t) => t.at === key) ? 20 : 0)

const roomOf = (label: string) => (label ? Math.min(190, label.length * 6.4 + 44) : 0)

export function flowOf(scene: Scene): { nodes: FlowNode[]; edges: FlowEdge[]; width: number; height: number } {
  const boxes: Box[] = [{ id: 'trigger', width: nodeWidth, height: heightOf(scene, 'trigger') }]
  const lines: Line[] = []
  const about = new Map<string, Pick<WayData, 'label' | 'place' | 'about' | 'taken'>>()
  const ends: { id: string; failed: boolean }[] = []
  const first = scene.steps[0]
  if (first) {
    const key = keyOfStep(first, 0)
    lines.push({ id: 'trigger', from: 'trigger', to: key, room: 0 })
    about.set('trigger', { label: '', place: { before: key }, about: 'at the start', taken: scene.marks.has(key) })
  }
  const all = ways(scene.steps)
  for (const [i, s] of scene.steps.entries()) {
    const key = keyOfStep(s, i)
    boxes.push({ id: key, width: nodeWidth, height: heightOf(scene, key) })
    // Ways to the same goal share a line.
    const goals = new Map<string, { label: string[]; slots: string[] }>()
    for (const w of all[i]?.ways ?? []) {
      const line = goals.get(w.goal) ?? { label: [], slots: [] }
      line.label.push(w.short)
      line.slots.push(w.slot)
      goals.set(w.goal, line)
    }
    for (const [goal, { label, slots }] of goals) {
      const id = `${key} ${goal}`
      const text = label.every(Boolean) ? label.join(' · ') : '' // the main way says nothing
      const to = isEnd(goal) ? id : goal
      if (isEnd(goal)) ends.push({ id, failed: goal !== END })
      lines.push({ id, from: key, to, room: roomOf(text) })
      const [slot = ''] = slots
      const place: Place | null = slots.length === 1 ? { after: key, slot } : isEnd(goal) ? { after: key, slot } : { before: goal, within: key }
      about.set(id, { label: text, place, about: text ? `${text}, after ${s.name ?? key}` : `after ${s.name ?? key}`, taken: slots.some((one) => scene.taken.has(`${key} ${one}`)) })
    }
  }
  for (const e of ends) boxes.push({ id: e.id, width: 76, height: 26 })
  const drawn = layoutOf(boxes, lines)
  const tracing = scene.marks.size > 0
  const nodes = boxes.map((b): FlowNode => {
    const end = ends.find((e) => e.id === b.id)
    return {
      id: b.id, type: end ? 'end' : 'step', position: drawn.boxes.get(b.id) ?? { x: 0, y: 0 }, width: b.width, height: b.height, data: { key: b.id, failed: end?.failed }, selected: b.id === scene.selected,
      draggable: false, connectable: false, deletable: false, selectable: !end, focusable: !end,
    }
  })
  const edges = lines.flatMap((l): FlowEdge[] => {
    const points = drawn.lines.get(l.id)
    const what = about.get(l.id)
    const start = points?.[0]
    if (!points || !start || !what) return []
    const label = drawn.labels.get(l.id) ?? start
    return [{ id: l.id, source: l.from, target: l.to, type: 'way', selectable: false, focusable: false, data: { ...what, points, at: what.label ? label : { x: start.x, y: bendOf(points) }, dim: tracing && !what.taken } }]
  })
  edges.sort((a, b) => Number(a.data?.taken) - Number(b.data?.taken)) // what was taken lies above
  return { nodes, edges, width: drawn.width, height: drawn.height }
}

const low = 46

// bendOf returns the height of the first bend of a line.
const bendOf = (points: Point[]) => (points[1]?.y ?? 0) - low

// pathOf returns the path of a line through its points, with rounded corners.
export function pathOf(points: Point[]): string {
  const [start, ...rest] = points
  if (!start) return ''
  let d = `M${start.x},${start.y}`
  let from = start
  for (const to of rest) {
    const dx = to.x - from.x
    if (Math.abs(dx) < 1) d += `L${to.x},${to.y}`
    else {
      const y = to.y - low
      const r = Math.min(8, Math.abs(dx) / 2)
      const sign = Math.sign(dx)
      d += `L${from.x},${y - r}Q${from.x},${y} ${from.x + sign * r},${y}L${to.x - sign * r},${y}Q${to.x},${y} ${to.x},${y + r}L${to.x},${to.y}`
    }
    from = to
  }
  return d
}
