import { Link } from '@tanstack/react-router'
import { useEffect, useRef, useState, type KeyboardEvent } from 'react'
import { count, type Figures, type Measure, type Series } from './figures'
import { axisOf, labelled } from './scale'

export interface Point<F = Figures> {
  start: string
  name: string
  brief: string
  figures: F
  // search is the search for the emails of a point.
  search?: { q: string }
}

const fills = { ok: 'fill-ok-mark', warn: 'fill-warn-mark', bad: 'fill-bad-mark', info: 'fill-info-mark' }
const strokes = { ok: 'stroke-ok-mark', warn: 'stroke-warn-mark', bad: 'stroke-bad-mark', info: 'stroke-info-mark' }
const [left, bottom, top] = [48, 24, 10]

// Chart draws one measure over time. Each point links to its emails. The arrow keys move between points,
// which screen readers announce.
export function Chart<F>({ measure, points, height = 232 }: { measure: Measure<F>; points: Point<F>[]; height?: number }) {
  const plot = height - bottom - top
  const box = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(720)
  const [at, setAt] = useState<number | null>(null)
  useEffect(() => {
    const node = box.current
    if (!node) return
    const watch = new ResizeObserver(([entry]) => entry && setWidth(entry.contentRect.width))
    watch.observe(node)
    return () => watch.disconnect()
  }, [])
  const values = points.map((p) => measure.series.map((s) => s.of(p.figures)))
  const sum = (v: (number | null)[]) => v.reduce<number>((a, b) => a + (b ?? 0), 0)
  const largest = Math.max(0, ...values.map((v) => (measure.kind === 'bars' ? sum(v) : Math.max(0, ...v.map((n) => n ?? 0)))), ...(measure.lines ?? []).map((l) => l.at))
  const { top: most, ticks } = axisOf(largest, measure.write === count)
  const inner = Math.max(1, width - left)
  const band = inner / Math.max(1, points.length)
  const y = (n: number) => top + plot * (1 - n / most)
  const marks = labelled(points.length, inner)
  const shown = at === null ? undefined : points[at]

  function press(e: KeyboardEvent<HTMLUListElement>) {
    const from = at ?? points.length - 1
    const to = e.key === 'ArrowLeft' ? from - 1 : e.key === 'ArrowRight' ? from + 1 : e.key === 'Home' ? 0 : e.key === 'End' ? points.length - 1 : null
    if (to === null || to < 0 || to >= points.length) return
    e.preventDefault()
    setAt(to)
    box.current?.querySelector<HTMLElement>(`[data-at="${to}"]`)?.focus()
  }

  return (
    <figure aria-label={`${measure.name} chart`}>
      <figcaption className="mb-2 flex flex-wrap gap-x-4 gap-y-1 text-xs text-ink-2">
        {measure.series.map((s) => <span key={s.name} className="inline-flex items-center gap-1.5"><Swatch series={s} kind={measure.kind} />{s.name}</span>)}
      </figcaption>
      <div ref={box} className="relative" onMouseLeave={() => setAt(null)}>
        <svg aria-hidden width={width} height={height} className="block overflow-visible text-2xs">
          <Patterns />
          {ticks.map((t) => (
            <g key={t}>
              <line x1={left} x2={width} y1={y(t)} y2={y(t)} className="stroke-line-soft" />
              <text x={left - 8} y={y(t) + 4} textAnchor="end" className="fill-ink-3">{measure.write(t)}</text>
            </g>
          ))}
          {points.map((p, i) => marks.has(i) && <text key={p.start} x={left + band * (i + 0.5)} y={height - 6} textAnchor="middle" className="fill-ink-3">{p.brief}</text>)}
          {at !== null && <rect x={left + band * at} y={top} width={band} height={plot} className="fill-hover" />}
          {measure.kind === 'bars' ? <Bars series={measure.series} values={values} band={band} y={y} /> : measure.series.map((s, i) => <Line key={s.name} series={s} values={values.map((v) => v[i] ?? null)} band={band} y={y} />)}
          {measure.lines?.map((l) => (
            <g key={l.name}>
              <line x1={left} x2={width} y1={y(l.at)} y2={y(l.at)} strokeDasharray="4 4" className="stroke-line-strong" />
              <text x={width - 2} y={y(l.at) - 4} textAnchor="end" className="fill-ink-2">{l.name}</text>
            </g>
          ))}
        </svg>
        <ul aria-label="Periods" onKeyDown={press} className="absolute flex" style={{ left, right: 0, top, height: plot }}>
          {points.map((p, i) => (
            <li key={p.start} className="min-w-0 flex-1">
              <Spot point={p} at={i} first={i === (at ?? points.length - 1)} words={wordsOf(measure, p)} show={() => setAt(i)} />
            </li>
          ))}
        </ul>
        {shown && at !== null && (
          <div className="pointer-events-none absolute z-2 w-max max-w-[260px] rounded-control bg-raised px-3 py-2 text-xs shadow-pop" style={at < points.length / 2 ? { left: left + band * (at + 1) + 6, top } : { right: width - left - band * at + 6, top }}>
            <p className="font-medium">{shown.name}</p>
            {measure.series.map((s) => <p key={s.name} className="flex items-center gap-1.5"><Swatch series={s} kind={measure.kind} />{s.name}<span className="ml-auto pl-4">{written(measure, s, shown.figures)}</span></p>)}
            {shown.search && <p className="mt-1 text-ink-3">Click to view its emails</p>}
          </div>
        )}
      </div>
    </figure>
  )
}

export const written = <F,>(measure: Measure<F>, s: Series<F>, f: F) => {
  const n = s.of(f)
  return n === null ? '–' : measure.write(n)
}
const wordsOf = <F,>(measure: Measure<F>, p: Point<F>) => `${p.name}: ${measure.series.map((s) => `${s.name} ${written(measure, s, p.figures)}`).join(', ')}`

// Spot is the focus target of one period. It stays visible while a resting pointer has moved the tab stop.
function Spot({ point, at, first, words, show }: { point: Pick<Point, 'search'>; at: number; first: boolean; words: string; show: () => void }) {
  const props = { 'data-at': at, 'aria-label': words, tabIndex: first ? 0 : -1, onFocus: show, onMouseEnter: show, className: 'block h-full w-full rounded-mark -outline-offset-1 focus-visible:outline-2 focus-visible:outline-accent' }
  return point.search ? <Link to="/emails" search={point.search as never} preload={false} {...props} /> : <span role="img" {...props} />
}

type Look = Pick<Series, 'name' | 'mark' | 'pattern'>

function Bars({ series, values, band, y }: { series: Look[]; values: (number | null)[][]; band: number; y: (n: number) => number }) {
  const width = Math.max(1, Math.min(48, band * 0.72))
  return values.map((v, i) => {
    let base = 0
    return series.map((s, j) => {
      const n = v[j] ?? 0
      if (n === 0) return null
      const from = base
      base += n
      const box = { x: left + band * (i + 0.5) - width / 2, y: y(base), width, height: Math.max(1, y(from) - y(base)) }
      return (
        <g key={s.name}>
          <rect {...box} className={fills[s.mark]} />
          {s.pattern && <rect {...box} fill={`url(#stat-${s.pattern})`} />}
        </g>
      )
    })
  })
}

function Line({ series, values, band, y }: { series: Look; values: (number | null)[]; band: number; y: (n: number) => number }) {
  const dots = values.map((n, i) => (n === null ? null : [left + band * (i + 0.5), y(n)] as const))
  const path = dots.map((d, i) => (d ? `${i > 0 && dots[i - 1] ? 'L' : 'M'}${d[0].toFixed(1)} ${d[1].toFixed(1)}` : '')).join('')
  return (
    <g>
      <path d={path} fill="none" strokeWidth={2} strokeLinejoin="round" strokeDasharray={series.pattern ? '6 3' : undefined} className={strokes[series.mark]} />
      {dots.map((d, i) => d && (values.length <= 40 || !dots[i - 1]) && <circle key={i} cx={d[0]} cy={d[1]} r={2.5} className={fills[series.mark]} />)}
    </g>
  )
}

function Swatch({ series, kind }: { series: Look; kind: Measure['kind'] }) {
  return (
    <svg aria-hidden width={14} height={10} className="flex-none">
      {kind === 'lines' ? <line x1={0} x2={14} y1={5} y2={5} strokeWidth={2} strokeDasharray={series.pattern ? '5 2' : undefined} className={strokes[series.mark]} /> : (
        <>
          <rect width={14} height={10} rx={2} className={fills[series.mark]} />
          {series.pattern && <rect width={14} height={10} fill={`url(#stat-${series.pattern})`} />}
        </>
      )}
    </svg>
  )
}

// Patterns distinguish bars without their colors.
function Patterns() {
  return (
    <defs>
      <pattern id="stat-lines" width={5} height={5} patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line x1={0} x2={0} y1={0} y2={5} strokeWidth={2} className="stroke-surface" opacity={0.45} /></pattern>
      <pattern id="stat-dots" width={5} height={5} patternUnits="userSpaceOnUse"><circle cx={2} cy={2} r={1} className="fill-surface" opacity={0.7} /></pattern>
    </defs>
  )
}
