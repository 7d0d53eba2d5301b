import { useState } from 'react'
import { X } from 'lucide-react'
import { ActDialog } from './ActDialog'
import { acts, type Act, type Target } from './actions'

const order: Act[] = ['retry', 'hold', 'release', 'drop']

// BulkBar appears below a list while entries are selected.
export function BulkBar({ words, target, clear }: { words: string; target: Target; clear: () => void }) {
  return (
    <div role="toolbar" aria-label="Selection actions" className="flex flex-none flex-wrap items-center gap-2 border-t border-line bg-raised px-4 py-2 md:px-6">
      <span role="status" className="font-medium">{words}</span>
      <button type="button" className="btn quiet sm" onClick={clear}><X aria-hidden />Clear</button>
      <div className="ml-auto flex flex-wrap gap-2"><Acts target={target} onDone={clear} /></div>
    </div>
  )
}

// Acts are the buttons for a target, with the question that each asks.
export function Acts({ target, onDone }: { target: Target; onDone?: () => void }) {
  const [act, setAct] = useState<Act | null>(null)
  return (
    <>
      {order.map((key) => {
        const { name, icon: Icon, danger } = acts[key]
        return <button key={key} type="button" className={`btn sm ${danger ? '!text-bad' : ''}`} onClick={() => setAct(key)}><Icon aria-hidden />{name}</button>
      })}
      {act && <ActDialog act={act} target={target} onClose={() => setAct(null)} onDone={() => onDone?.()} />}
    </>
  )
}
