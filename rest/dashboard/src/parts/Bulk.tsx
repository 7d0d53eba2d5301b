import type { LucideIcon } from 'lucide-react'
import { useRef, useState } from 'react'
import { wordsOf } from '@/api/failed'
import { Confirm } from './Confirm'

export interface BulkAction {
  name: string
  icon: LucideIcon
  danger?: boolean
  // about says what will happen, before it does.
  about: string
  run: (id: string) => Promise<unknown>
}

const most = 1000
const atOnce = 4

// BulkBar does one thing to each of the selected, from here: with progress, and with the words of what
// was refused. What failed stays selected, to be done again.
export function BulkBar({ ids, actions, onSelect, noun }: { ids: string[]; actions: BulkAction[]; onSelect: (ids: Set<string>) => void; noun: [string, string] }) {
  const [asked, setAsked] = useState<BulkAction | null>(null)
  const [at, setAt] = useState<{ done: number; of: number } | null>(null)
  const [told, setTold] = useState('')
  const stop = useRef(false)
  if (ids.length === 0 && !at && !told) return null
  const count = `${ids.length} ${ids.length === 1 ? noun[0] : noun[1]}`

  async function run(action: BulkAction) {
    const todo = ids.slice(0, most)
    const failed = new Map<string, string>()
    let next = 0
    let done = 0
    stop.current = false
    setTold('')
    setAt({ done: 0, of: todo.length })
    await Promise.all(Array.from({ length: atOnce }, async () => {
      for (let id = todo[next++]; id !== undefined && !stop.current; id = todo[next++]) {
        try {
          await action.run(id)
        } catch (error) {
          failed.set(id, wordsOf(error))
        }
        setAt({ done: ++done, of: todo.length })
      }
    }))
    setAt(null)
    const words = [...new Set(failed.values())]
    setTold(`${action.name}: ${done - failed.size} done${failed.size > 0 ? `, ${failed.size} refused: ${words.slice(0, 3).join(' · ')}` : ''}`)
    onSelect(new Set([...failed.keys(), ...ids.filter((id) => !todo.includes(id))]))
  }

  return (
    <div role="region" aria-label="Selection" className="sticky bottom-0 z-5 flex flex-none flex-wrap items-center gap-x-2 gap-y-1 border-t border-line bg-raised px-4 py-2 md:px-6">
      {at ? (
        <>
          <progress aria-label="Progress" className="h-1.5 w-40 accent-accent-fill" value={at.done} max={at.of} />
          <span className="text-xs text-ink-2">{at.done} of {at.of}</span>
          <button type="button" className="btn quiet sm" onClick={() => (stop.current = true)}>Stop</button>
        </>
      ) : (
        <>
          {ids.length > 0 && <b className="mr-1 font-medium">{ids.length} selected</b>}
          {ids.length > 0 && actions.map((a) => <button key={a.name} type="button" className="btn sm" onClick={() => setAsked(a)}><a.icon aria-hidden />{a.name}</button>)}
          {told && <span role="status" className="min-w-0 text-xs text-ink-2 wrap-anywhere">{told}</span>}
          <button type="button" className="btn quiet sm ml-auto" onClick={() => { onSelect(new Set()); setTold('') }}>{ids.length > 0 ? 'Clear' : 'Close'}<kbd className="key">Esc</kbd></button>
        </>
      )}
      {asked && (
        <Confirm title={`${asked.name}: ${count}?`} label={asked.name} danger={asked.danger} onClose={() => setAsked(null)} run={async () => { void run(asked) }}>
          {asked.about}{ids.length > most && ` The first ${most} now; the rest stays selected.`}
        </Confirm>
      )}
    </div>
  )
}
