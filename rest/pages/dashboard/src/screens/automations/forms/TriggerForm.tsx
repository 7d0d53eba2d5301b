import { Plus, Trash2 } from 'lucide-react'
import { useId } from 'react'
import { Field } from '@/parts/Form'
import { ConditionField } from './ConditionField'
import { SpanField, TextField } from './fields'
import { useStepForm } from './form'

interface Cancel {
  event: string
  conditions?: string
  step?: string
}

// TriggerForm says which events start runs, for whom again, and which end them.
export function TriggerForm() {
  const form = useStepForm()
  const again = form.get('re_entry')
  const mode = typeof again === 'object' && again !== null ? 'at_most_every' : String(again ?? 'every_time')
  return (
    <>
      <TextField field="event" label="Event" mono list={form.hints.events} hint="The event name your app sends to POST /events, or a built-in event such as $email.bounced." />
      <ConditionField field="conditions" label="Only events where" optional />
      <Field label="If the user already had a run" error={form.wrong('re_entry')}>{(p) => (
        <select {...p} className="input" data-field="re_entry" disabled={form.readOnly} value={mode} onChange={(e) => form.set('re_entry', e.target.value === 'every_time' ? undefined : e.target.value === 'at_most_every' ? { at_most_every: 'P30D' } : e.target.value)}>
          <option value="every_time">start another one for every event</option>
          <option value="once">never start another one</option>
          <option value="after_completion">start another one once the last has ended</option>
          <option value="at_most_every">start another one after some time</option>
        </select>
      )}</Field>
      {mode === 'at_most_every' && <SpanField field="re_entry.at_most_every" label="After" />}
      <Cancels />
    </>
  )
}

function Cancels() {
  const form = useStepForm()
  const names = useId()
  const read = form.get('cancel_on_events')
  const list: (string | Cancel)[] = Array.isArray(read) ? (read as (string | Cancel)[]) : []
  const write = (next: (string | Cancel)[]) => form.set('cancel_on_events', next)
  return (
    <fieldset className="grid gap-2 border-t border-line-soft pt-3" data-field="cancel_on_events" tabIndex={-1}>
      <legend className="sr-only">Events that cancel the run</legend>
      <p className="font-medium">Events that cancel the run</p>
      {list.map((c, i) => {
        const event = typeof c === 'string' ? c : c.event
        const wrong = form.wrong(`cancel_on_events[${i}]`) ?? form.wrong(`cancel_on_events[${i}].event`)
        return (
          <div key={i} className="grid gap-2">
            <div className="flex gap-1.5">
              <input className="input font-mono" list={names} aria-label={`Cancelling event ${i + 1}`} aria-invalid={wrong ? true : undefined} readOnly={form.readOnly} value={event} onChange={(e) => write(list.map((o, j) => (j !== i ? o : typeof o === 'string' ? e.target.value : { ...o, event: e.target.value })))} />
              {!form.readOnly && <button type="button" className="btn quiet square" aria-label={`Remove ${event || `event ${i + 1}`}`} onClick={() => write(list.filter((_, j) => j !== i))}><Trash2 aria-hidden /></button>}
            </div>
            {wrong && <p className="text-xs text-bad">{wrong}</p>}
            {typeof c !== 'string' && <ConditionField field={`cancel_on_events[${i}].conditions`} label={`Only ${event} with`} optional arriving />}
          </div>
        )
      })}
      <datalist id={names}>{form.hints.events.map((v) => <option key={v} value={v} />)}</datalist>
      {!form.readOnly && list.length < 10 && <div><button type="button" className="btn sm" onClick={() => write([...list, ''])}><Plus aria-hidden />Add an event</button></div>}
    </fieldset>
  )
}
