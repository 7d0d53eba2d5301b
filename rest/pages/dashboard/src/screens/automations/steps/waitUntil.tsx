import { Timer } from 'lucide-react'
import { Field } from '@/parts/Form'
import { More, TextField } from '../forms/fields'
import { textOf, useStepForm } from '../forms/form'
import { TargetField } from '../forms/TargetField'
import { wordsOfSpan } from '../model/duration'
import { isEmpty, slot, words } from '../model/step'
import { defineStep } from './kind'

export default defineStep({
  type: 'wait_until', order: 4, word: 'Wait until', icon: Timer, about: 'a time of day or a date',
  make: () => ({ key: 'daytime', type: 'wait_until', window: { from: '09:00', to: '18:00' } }),
  setting: (s) => {
    const w = s.window as { from?: string; to?: string; days?: string[] } | undefined
    return [words(s.at) ? `${words(s.at)}${s.offset ? `, ${wordsOfSpan(s.offset)}` : ''}` : '', w ? `${w.from ?? '…'} to ${w.to ?? '…'}${w.days ? `, ${w.days.join(' ')}` : ''}` : ''].filter(Boolean).join(', then ')
  },
  sides: [slot('on_past', 'If the time has passed', 'already past')],
  lacks: (s) => (isEmpty(s.at) && !s.window ? [{ field: 'window', message: 'a date or a time of day is required' }] : []),
  continues: true,
  Form: WaitUntilForm,
})

const days: [string, string][] = [['mon', 'Mon'], ['tue', 'Tue'], ['wed', 'Wed'], ['thu', 'Thu'], ['fri', 'Fri'], ['sat', 'Sat'], ['sun', 'Sun']]
const zones = typeof Intl.supportedValuesOf === 'function' ? Intl.supportedValuesOf('timeZone') : []

function WaitUntilForm() {
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
