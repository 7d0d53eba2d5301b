// Durations as a number and a unit: PT30M is 30 minutes.

export type Unit = 'S' | 'M' | 'H' | 'D' | 'W'

export const units: { unit: Unit; name: string; one: string }[] = [
  { unit: 'S', name: 'seconds', one: 'second' },
  { unit: 'M', name: 'minutes', one: 'minute' },
  { unit: 'H', name: 'hours', one: 'hour' },
  { unit: 'D', name: 'days', one: 'day' },
  { unit: 'W', name: 'weeks', one: 'week' },
]

const one = /^P(?:(\d+)([WD])|T(\d+)([HMS]))$/

// spanOf parses a duration with one unit; null for others, such as P1DT2H.
export function spanOf(text: unknown): { n: number; unit: Unit } | null {
  const m = typeof text === 'string' ? one.exec(text) : null
  if (!m) return null
  return { n: Number(m[1] ?? m[3]), unit: (m[2] ?? m[4]) as Unit }
}

export const textOfSpan = (n: number, unit: Unit) => (unit === 'D' || unit === 'W' ? `P${n}${unit}` : `PT${n}${unit}`)

const every = /^(-)?P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/

// wordsOfSpan returns `3 days` or `1 day 2 hours`, or the text if it is not a duration.
export function wordsOfSpan(text: unknown): string {
  const m = typeof text === 'string' ? every.exec(text) : null
  if (!m) return typeof text === 'string' ? text : ''
  const parts = (['W', 'D', 'H', 'M', 'S'] as const).flatMap((unit, i) => {
    const n = m[i + 2]
    const name = units.find((u) => u.unit === unit)
    return n === undefined || !name ? [] : [`${n} ${n === '1' ? name.one : name.name}`]
  })
  return parts.length === 0 ? String(text) : `${m[1] ? 'minus ' : ''}${parts.join(' ')}`
}
