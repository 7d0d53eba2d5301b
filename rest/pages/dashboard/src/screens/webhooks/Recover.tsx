import { useState, type FormEvent } from 'react'
import { now } from '@/api/clock'
import { unwrap, rest } from '@/api/rest'
import { Dialog } from '@/parts/Dialog'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Field, useWrite } from '@/parts/Form'

const local = (at: Date) => new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
const ago = (hours: number) => local(new Date(now() - hours * 3_600_000))

// Recover queues the failed deliveries since a time; many of them take several requests.
export function Recover({ id, onClose, done: finished }: { id: string; onClose: () => void; done: () => void }) {
  const [since, setSince] = useState(() => ago(24))
  const [missed, setMissed] = useState(false)
  const [count, setCount] = useState<number>()
  const [over, setOver] = useState(false)
  const recover = useWrite(async () => {
    let total = 0
    let more = true
    while (more) {
      const answer = await unwrap(rest.POST('/webhooks/{id}/recover', { params: { path: { id } }, body: { since: new Date(since).toISOString(), only_failed: !missed } }))
      total += answer.recovered
      more = answer.has_more && answer.recovered > 0
      setCount(total)
    }
    setOver(true)
    finished()
  })
  async function submit(e: FormEvent) {
    e.preventDefault()
    setCount(undefined)
    await recover.run()
  }
  if (over) {
    return (
      <Dialog title="Recovered" onClose={onClose} actions={<button type="button" className="btn primary" onClick={onClose}>Close</button>}>
        <p role="status">{count === 0 ? 'No deliveries were missed since then.' : `${count?.toLocaleString()} ${count === 1 ? 'delivery was' : 'deliveries were'} queued again.`}</p>
      </Dialog>
    )
  }
  return (
    <Dialog title="Recover deliveries" onClose={onClose}>
      <form onSubmit={(e) => void submit(e)} className="grid gap-4">
        <Field label="Since" hint="In your time zone, up to 30 days back. Nothing is queued twice." error={recover.fieldErrors.since}>
          {(p) => <input {...p} className="input" type="datetime-local" required value={since} max={ago(0)} onChange={(e) => setSince(e.target.value)} />}
        </Field>
        <div className="flex flex-wrap gap-1">{([['1 hour', 1], ['24 hours', 24], ['7 days', 168], ['30 days', 719]] as const).map(([name, hours]) => <button key={name} type="button" className="btn sm" onClick={() => setSince(ago(hours))}>{name}</button>)}</div>
        <label className="flex items-start gap-2"><input type="checkbox" className="mt-1 accent-accent-fill" checked={missed} onChange={(e) => setMissed(e.target.checked)} /><span>Also events it missed while disabled<span className="block text-xs text-ink-3">Otherwise, only failed deliveries.</span></span></label>
        {recover.busy && <p role="status" className="text-ink-2">{count === undefined ? 'Queuing…' : `${count.toLocaleString()} queued…`}</p>}
        {recover.error !== null && Object.keys(recover.fieldErrors).length === 0 && <ErrorAlert error={recover.error} />}
        <div className="flex justify-end gap-2">
          <button type="button" className="btn" onClick={onClose}>Cancel</button>
          <button type="submit" className="btn primary" disabled={recover.busy}>Recover</button>
        </div>
      </form>
    </Dialog>
  )
}
