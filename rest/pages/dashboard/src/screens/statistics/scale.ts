// top returns a round number that is not below the largest value, and the positions of the grid lines.
export function axisOf(largest: number, whole: boolean): { top: number; ticks: number[] } {
  const least = whole ? 4 : 0
  const wanted = Math.max(largest, least) || 1
  const raw = wanted / 4
  const power = 10 ** Math.floor(Math.log10(raw))
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= raw && (!whole || Number.isInteger(s))) ?? raw
  const lines = Math.max(1, Math.ceil(wanted / step - 1e-9))
  return { top: lines * step, ticks: Array.from({ length: lines + 1 }, (_, i) => i * step) }
}

// labelled returns the positions on the axis that get a label, so that labels do not touch.
export function labelled(count: number, width: number, each = 64): Set<number> {
  const every = Math.max(1, Math.ceil((count * each) / Math.max(width, 1)))
  return new Set(Array.from({ length: count }, (_, i) => i).filter((i) => i % every === 0))
}
