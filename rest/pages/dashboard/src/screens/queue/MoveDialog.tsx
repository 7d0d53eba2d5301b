import { useState } from 'react'
import { now } from '@/api/clock'
import { Dialog } from '@/parts/Dialog'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Field, useWrite } from '@/parts/Form'

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone

// local returns the value of a datetime-local input for an instant.
function local(at: Date): string {
  const two = (n: number) => String(n).padStart(2, '0')
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}:${two(at.getMinutes())}`
}

export function MoveDialog({ title, at, step, move, onClose }: { title: string; at?: string | null; step: string; move: (at: string) => Promise<void>; onClose: () => void }) {
  const [value, setValue] = useState(() => local(at ? new Date(at) : new Date(now() + 3_600_000)))
  const when = new Date(value)
  const known = !Number.isNaN(when.getTime())
  const write = useWrite(async () => {
    await move(when.toISOString())
    return true
  })
  const go = async () => {
    if (await write.run()) onClose()
  }
  return (
    <Dialog title={title} onClose={onClose} actions={<><button type="button" className="btn" onClick={onClose}>Cancel</button><button type="submit" form="move" className="btn primary" disabled={!known || write.busy}>Reschedule</button></>}>
      <form id="move" className="grid gap-3" onSubmit={(e) => { e.preventDefault(); void go() }}>
        <Field label="Sends at" error={write.fieldErrors.scheduled_at} hint={known ? `${zone}; that is ${when.toISOString().slice(0, 16).replace('T', ' ')} UTC` : zone}>
          {(f) => <input {...f} type="datetime-local" className="input" required value={value} onChange={(e) => setValue(e.target.value)} />}
        </Field>
        {write.busy && step && <p role="status" className="text-xs text-ink-3">{step}</p>}
        {write.error !== null && <ErrorAlert error={write.error} retry={() => void go()} />}
      </form>
    </Dialog>
  )
}
