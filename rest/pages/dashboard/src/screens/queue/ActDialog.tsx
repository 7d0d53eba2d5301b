import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { toast } from '@/app/toasts'
import { Dialog } from '@/parts/Dialog'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Field, useWrite } from '@/parts/Form'
import { acts, people, sum, type Act, type Target } from './actions'
import { QueueBacklogs, QueueRecipients } from './queries.gen'

// ActDialog asks for confirmation before a queue action, and shows the number of recipients.
export function ActDialog({ act, target, onClose, onDone }: { act: Act; target: Target; onClose: () => void; onDone: () => void }) {
  const queries = useQueryClient()
  const known = acts[act]
  const [reason, setReason] = useState('')
  const [step, setStep] = useState(0)
  const count = useQuery({ queryKey: ['queue-count', act, target], queryFn: () => sum(act, target, true, 'count'), staleTime: 0, gcTime: 0 })
  const write = useWrite(async () => {
    const change = await sum(act, target, false, reason.trim(), setStep)
    toast.success(`${known.done}: ${change.changed.toLocaleString()} of ${people(change.matched)}`)
    return change
  })
  async function go() {
    const change = await write.run()
    await Promise.all([QueueBacklogs, QueueRecipients].map((d) => queries.invalidateQueries({ queryKey: [d.name] })))
    if (!change) return
    onDone()
    onClose()
  }
  const ready = count.data !== undefined && count.data.matched > 0 && (act !== 'drop' || reason.trim() !== '')
  return (
    <Dialog
      title={`${known.name}: ${target.words}`} onClose={onClose}
      actions={<><button type="button" className="btn" onClick={onClose}>Cancel</button><button type="submit" form="queue-act" className={`btn ${known.danger ? 'danger' : 'primary'}`} disabled={!ready || write.busy}>{known.name}{count.data ? ` (${count.data.matched.toLocaleString()})` : ''}</button></>}
    >
      <form id="queue-act" className="grid gap-3" onSubmit={(e) => { e.preventDefault(); void go() }}>
        <p role="status" className="font-medium">{count.data ? (count.data.matched ? `Applies to ${people(count.data.matched)}.` : 'No matching recipients are queued anymore.') : count.error ? '' : 'Counting…'}</p>
        {count.error && <ErrorAlert error={count.error} retry={() => void count.refetch()} />}
        <p className="text-ink-2">{known.about}</p>
        {act === 'drop' && <Field label="Reason" hint="Shown in the timeline of each email." error={write.fieldErrors.reason}>{(f) => <input {...f} className="input" required maxLength={500} value={reason} onChange={(e) => setReason(e.target.value)} />}</Field>}
        {write.busy && target.selections.length > 1 && <p role="status" className="text-xs text-ink-3">{step} of {target.selections.length} destinations</p>}
        {write.error !== null && <ErrorAlert error={write.error} retry={() => void go()} title="Changes made so far are kept." />}
      </form>
    </Dialog>
  )
}
