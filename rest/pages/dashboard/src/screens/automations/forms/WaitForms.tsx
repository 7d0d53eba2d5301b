import { Field } from '@/parts/Form'
import { ConditionField } from './ConditionField'
import { ListField, More, SpanField, TextField } from './fields'
import { textOf, useStepForm } from './form'
import { TargetField } from './TargetField'

export function DelayForm() {
  return <SpanField field="duration" label="Wait for" hint="A day is 24 hours." />
}

const days: [string, string][] = [['mon', 'Mon'], ['tue', 'Tue'], ['wed', 'Wed'], ['thu', 'Thu'], ['fri', 'Fri'], ['sat', 'Sat'], ['sun', 'Sun']]
const zones = typeof Intl.supportedValuesOf === 'function' ? Intl.supportedValuesOf('timeZone') : []

export function WaitUntilForm() {
  const form = useStepForm()
  const window = form.get('window') as { from?: string; to?: string; days?: string[] } | undefined
  const chosen = window?.days ?? days.map(([d]) => d)
  const toggle = (day: string) => {
    const next = days.map(([d]) => d).filter((d) => (d === day ? !chosen.includes(d) : chosen.includes(d)))
    form.set('window.days', next.length === days.length ? undefined : next)
  }
  return (
    <>
      <label className="flex items-center gap-2 font-medium"><input type="checkbox" className="size-4 accent-accent-fill" data-field="window" disabled={form.readOnly} checked={window !== undefined} onChange={(e) => form.set('window', e.target.checked ? { from: '09:00', to: '18:00' } : undefined)} />Only during certain hours</label>
      {window && (
        <div className="grid gap-3 pl-6">
          <div className="grid grid-cols-2 gap-2">
            <Time field="window.from" label="From" />
            <Time field="window.to" label="To" />
          </div>
          <fieldset><legend className="mb-1 font-medium">On</legend>
            <div className="flex flex-wrap gap-1">{days.map(([d, name]) => <button key={d} type="button" className={`btn sm ${chosen.includes(d) ? '!border-accent !text-accent' : ''}`} aria-pressed={chosen.includes(d)} disabled={form.readOnly} onClick={() => toggle(d)}>{name}</button>)}</div>
          </fieldset>
        </div>
      )}
      <More title="Until a time from the event" fields={['at', 'offset', 'on_past']}>
        <TextField field="at" label="Time" mono placeholder="timestamp(event.data.ends_at)" hint="An expression that returns a time." list={form.hints.paths.map((p) => `timestamp(${p})`)} />
        {form.get('at') !== undefined && <TextField field="offset" label="Offset" mono placeholder="-P3D" hint="For example, PT2H for two hours later or -P3D for three days earlier." />}
        {form.get('at') !== undefined && <TargetField slot="on_past" label="If it’s already past" />}
      </More>
      <TextField field="timezone" label="Time zone" list={zones} hint="Leave empty to use the automation’s time zone. Event values work too." liquid />
      {form.wrong('window') && <p className="text-xs text-bad">{form.wrong('window')}</p>}
    </>
  )
}

function Time({ field, label }: { field: string; label: string }) {
  const form = useStepForm()
  return <Field label={label} error={form.wrong(field)}>{(p) => <input {...p} type="time" className="input" data-field={field} readOnly={form.readOnly} value={textOf(form.get(field))} onChange={(e) => form.set(field, e.target.value)} />}</Field>
}

export function WaitForEventForm() {
  const form = useStepForm()
  const mails = form.steps.filter((s) => s.type === 'send_email' && s.key && s.key !== form.at)
  const events = form.get('event')
  const own = [events].flat().some((e) => typeof e === 'string' && e.startsWith('$email.'))
  const since = textOf(form.get('since'))
  return (
    <>
      <ListField field="event" label="Event" list={form.hints.events} hint="The event name your app sends to POST /events, or a built-in event such as $email.opened. Separate several with commas; the first to arrive counts." />
      <SpanField field="timeout" label="Wait at most" />
      <TargetField slot="on_event" label="When it arrives" />
      <TargetField slot="on_timeout" label="On timeout" />
      <ConditionField field="conditions" label="Only events where" optional arriving hint="event is the one that arrives; trigger is the one that started the run." />
      {own && (
        <Field label="Only for the email of" error={form.wrong('step')}>{(p) => (
          <select {...p} className="input" data-field="step" disabled={form.readOnly} value={textOf(form.get('step'))} onChange={(e) => form.set('step', e.target.value)}><option value="">any email to the user</option>{mails.map((s) => <option key={s.key} value={s.key}>{s.name ?? s.key}</option>)}</select>
        )}</Field>
      )}
      <More title="Which events count" fields={['since']}>
        <Field label="Events count" error={form.wrong('since')} hint={since && since !== 'step' && since !== 'run' ? 'How long before the run started.' : undefined}>{(p) => (
          <select {...p} className="input" data-field="since" disabled={form.readOnly} value={since === '' || since === 'run' ? 'run' : since === 'step' ? 'step' : 'before'} onChange={(e) => form.set('since', e.target.value === 'run' ? undefined : e.target.value === 'step' ? 'step' : 'P1D')}>
            <option value="run">since the run started</option><option value="step">only from this step on</option><option value="before">also before the run started</option>
          </select>
        )}</Field>
        {since !== '' && since !== 'run' && since !== 'step' && <SpanField field="since" label="How long before" />}
      </More>
    </>
  )
}
