import type { LucideIcon } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { toast } from '@/app/toasts'
import { BulkReport, type Report } from './BulkReport'
import { ConfirmDialog } from './ConfirmDialog'
import { maxSelection } from './fetchAll'
import { runForEach } from './runForEach'

export interface BulkAction {
  name: string
  icon: LucideIcon
  danger?: boolean
  // description explains the action in the confirmation dialog.
  description: string
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
  // loadAll loads all rows that match the filter; undefined if all are already selected.
  loadAll?: (signal: AbortSignal, onProgress: (read: number) => void) => Promise<{ items: Item[]; more: boolean }>
  // onFinish is called after an action.
  onFinish?: () => void
}

// BulkBar runs an action on each selected row and shows the progress and the errors. Rows that failed
// or were not tried stay selected.
export function BulkBar({ ids, actions, onSelect, noun, nameOf, loadAll, onFinish }: Props) {
  const [confirming, setConfirming] = useState<BulkAction | null>(null)
  const [progress, setProgress] = useState<{ label: string; done: number; total?: number } | null>(null)
  const [summary, setSummary] = useState('')
  const [report, setReport] = useState<Report | null>(null)
  const names = useRef(new Map<string, string>())
  const stop = useRef<AbortController>(undefined)
  useEffect(() => () => stop.current?.abort(), [])
  if (actions.length === 0 || (ids.length === 0 && !progress && !summary && !report)) return null
  const formatCount = (n: number) => `${n.toLocaleString('en')} ${n === 1 ? noun[0] : noun[1]}`

  function start(): AbortSignal {
    stop.current = new AbortController()
    setSummary('')
    return stop.current.signal
  }

  async function selectAll(read: NonNullable<Props['loadAll']>) {
    const signal = start()
    setProgress({ label: 'Selecting', done: 0 })
    try {
      const { items, more } = await read(signal, (n) => setProgress({ label: 'Selecting', done: n }))
      items.forEach((i) => names.current.set(i.id, i.name))
      onSelect(new Set(items.map((i) => i.id)))
      if (more) setSummary(`Selected the newest ${items.length.toLocaleString('en')}. More rows match the filter.`)
    } catch (error) {
      if (!signal.aborted) toast.error(error)
    }
    setProgress(null)
  }

  async function run(action: BulkAction) {
    const signal = start()
    const batch = ids.slice(0, maxSelection)
    // The rows may disappear from the list while the action runs.
    batch.forEach((id) => names.current.set(id, names.current.get(id) ?? nameOf(id)))
    setProgress({ label: action.name, done: 0, total: batch.length })
    const result = await runForEach(batch, { run: action.run, isStopped: () => signal.aborted, onProgress: (done) => setProgress({ label: action.name, done, total: batch.length }) })
    setProgress(null)
    const untried = result.untried.length > 0 ? `, ${result.untried.length} not tried${result.abortReason ? `: ${result.abortReason}` : ''}` : ''
    setSummary(`${action.name}: ${result.done.length} done${result.failed.size > 0 ? `, ${result.failed.size} failed` : ''}${untried}`)
    onSelect(new Set([...result.failed.keys(), ...result.untried, ...ids.slice(maxSelection)]))
    if (result.failed.size > 0) {
      setReport({ action: action.name, done: result.done.length, failed: [...result.failed].map(([id, reason]) => ({ id, name: names.current.get(id) ?? id, reason })) })
    }
    onFinish?.()
  }

  return (
    <div role="region" aria-label="Selection" data-bulk className="sticky bottom-0 z-5 flex flex-none flex-wrap items-center gap-x-2 gap-y-1 border-t border-line bg-raised px-4 py-2 md:px-6">
      {progress ? (
        <>
          <progress aria-label={progress.label} className="h-1.5 w-40 accent-accent-fill" value={progress.total === undefined ? undefined : progress.done} max={progress.total} />
          <span className="text-xs text-ink-2 tabular-nums">{progress.label}: {progress.done.toLocaleString('en')}{progress.total !== undefined && ` of ${progress.total.toLocaleString('en')}`}</span>
          <button type="button" className="btn quiet sm" onClick={() => stop.current?.abort()}>Stop</button>
        </>
      ) : (
        <>
          {ids.length > 0 && <b className="mr-1 font-medium">{ids.length.toLocaleString('en')} selected</b>}
          {ids.length > 0 && loadAll && <button type="button" className="btn quiet sm" onClick={() => void selectAll(loadAll)}>Select all matching</button>}
          {ids.length > 0 && actions.map((a) => <button key={a.name} type="button" className="btn sm" onClick={() => setConfirming(a)}><a.icon aria-hidden />{a.name}</button>)}
          {summary && <span role="status" className="min-w-0 text-xs text-ink-2 wrap-anywhere">{summary}</span>}
          <button type="button" className="btn quiet sm ml-auto" onClick={() => { onSelect(new Set()); setSummary('') }}>{ids.length > 0 ? 'Clear' : 'Close'}<kbd className="key">Esc</kbd></button>
        </>
      )}
      {confirming && (
        <ConfirmDialog title={`${confirming.name} ${formatCount(ids.length)}?`} label={confirming.name} danger={confirming.danger} onClose={() => setConfirming(null)} run={async () => { void run(confirming) }}>
          {confirming.description}{ids.length > maxSelection && ` Only the first ${maxSelection.toLocaleString('en')} are processed now. The others stay selected.`}
        </ConfirmDialog>
      )}
      {report && <BulkReport report={report} noun={noun} onClose={() => setReport(null)} />}
    </div>
  )
}
