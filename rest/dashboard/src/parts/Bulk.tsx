import type { LucideIcon } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { toast } from '@/app/toasts'
import { BulkReport, type Report } from './BulkReport'
import { Confirm } from './Confirm'
import { most } from './everything'
import { repeat } from './repeat'

export interface BulkAction {
  name: string
  icon: LucideIcon
  danger?: boolean
  // about says what will happen, before it does.
  about: string
  run: (id: string) => Promise<unknown>
}

export interface Item {
  id: string
  name: string
}

interface Props {
  ids: string[]
  actions: BulkAction[]
  onSelect: (ids: Set<string>) => void
  noun: [string, string]
  nameOf: (id: string) => string
  // all reads everything that matches the filter; undefined: all of it is selected.
  all?: (signal: AbortSignal, tell: (read: number) => void) => Promise<{ items: Item[]; more: boolean }>
  // after is called when an action is over.
  after?: () => void
}

// BulkBar does one thing to each of the selected, from here: with progress, and with the words of what
// was refused. What failed, and what was not tried, stays selected.
export function BulkBar({ ids, actions, onSelect, noun, nameOf, all, after }: Props) {
  const [asked, setAsked] = useState<BulkAction | null>(null)
  const [at, setAt] = useState<{ what: string; done: number; of?: number } | null>(null)
  const [told, setTold] = useState('')
  const [report, setReport] = useState<Report | null>(null)
  const names = useRef(new Map<string, string>())
  const stop = useRef<AbortController>(undefined)
  useEffect(() => () => stop.current?.abort(), [])
  if (actions.length === 0 || (ids.length === 0 && !at && !told && !report)) return null
  const counted = (n: number) => `${n.toLocaleString('en')} ${n === 1 ? noun[0] : noun[1]}`

  function begin(): AbortSignal {
    stop.current = new AbortController()
    setTold('')
    return stop.current.signal
  }

  async function selectAll(read: NonNullable<Props['all']>) {
    const signal = begin()
    setAt({ what: 'Selecting', done: 0 })
    try {
      const { items, more } = await read(signal, (n) => setAt({ what: 'Selecting', done: n }))
      items.forEach((i) => names.current.set(i.id, i.name))
      onSelect(new Set(items.map((i) => i.id)))
      if (more) setTold(`More match; these are the newest ${items.length.toLocaleString('en')}`)
    } catch (error) {
      if (!signal.aborted) toast.failed(error)
    }
    setAt(null)
  }

  async function run(action: BulkAction) {
    const signal = begin()
    const todo = ids.slice(0, most)
    // Rows may be gone from the list when it is over.
    todo.forEach((id) => names.current.set(id, names.current.get(id) ?? nameOf(id)))
    setAt({ what: action.name, done: 0, of: todo.length })
    const got = await repeat(todo, { run: action.run, stopped: () => signal.aborted, tell: (done) => setAt({ what: action.name, done, of: todo.length }) })
    setAt(null)
    const left = got.left.length > 0 ? `, ${got.left.length} not tried${got.ended ? `: ${got.ended}` : ''}` : ''
    setTold(`${action.name}: ${got.done.length} done${got.refused.size > 0 ? `, ${got.refused.size} refused` : ''}${left}`)
    onSelect(new Set([...got.refused.keys(), ...got.left, ...ids.slice(most)]))
    if (got.refused.size > 0) {
      setReport({ action: action.name, done: got.done.length, refused: [...got.refused].map(([id, why]) => ({ id, name: names.current.get(id) ?? id, why })) })
    }
    after?.()
  }

  return (
    <div role="region" aria-label="Selection" className="sticky bottom-0 z-5 flex flex-none flex-wrap items-center gap-x-2 gap-y-1 border-t border-line bg-raised px-4 py-2 md:px-6">
      {at ? (
        <>
          <progress aria-label={at.what} className="h-1.5 w-40 accent-accent-fill" value={at.of === undefined ? undefined : at.done} max={at.of} />
          <span className="text-xs text-ink-2 tabular-nums">{at.what}: {at.done.toLocaleString('en')}{at.of !== undefined && ` of ${at.of.toLocaleString('en')}`}</span>
          <button type="button" className="btn quiet sm" onClick={() => stop.current?.abort()}>Stop</button>
        </>
      ) : (
        <>
          {ids.length > 0 && <b className="mr-1 font-medium">{ids.length.toLocaleString('en')} selected</b>}
          {ids.length > 0 && all && <button type="button" className="btn quiet sm" onClick={() => void selectAll(all)}>Select all that match</button>}
          {ids.length > 0 && actions.map((a) => <button key={a.name} type="button" className="btn sm" onClick={() => setAsked(a)}><a.icon aria-hidden />{a.name}</button>)}
          {told && <span role="status" className="min-w-0 text-xs text-ink-2 wrap-anywhere">{told}</span>}
          <button type="button" className="btn quiet sm ml-auto" onClick={() => { onSelect(new Set()); setTold('') }}>{ids.length > 0 ? 'Clear' : 'Close'}<kbd className="key">Esc</kbd></button>
        </>
      )}
      {asked && (
        <Confirm title={`${asked.name}: ${counted(ids.length)}?`} label={asked.name} danger={asked.danger} onClose={() => setAsked(null)} run={async () => { void run(asked) }}>
          {asked.about}{ids.length > most && ` The first ${most.toLocaleString('en')} now; the rest stays selected.`}
        </Confirm>
      )}
      {report && <BulkReport report={report} noun={noun} onClose={() => setReport(null)} />}
    </div>
  )
}
