import { Field } from '@/parts/Form'
import { END, FAIL } from '../model/step'
import { useStepForm } from './form'

// TargetField says where a way of the step leads.
export function TargetField({ slot, label, hint }: { slot: string; label: string; hint?: string }) {
  const form = useStepForm()
  const { goal, goes, side, choices } = form.leadOf(slot)
  const same = side && slot !== 'on_error' && form.get(slot) === undefined
  return (
    <Field label={label} hint={hint} error={form.wrong(slot) ?? form.wrong(`${slot}.goto`)}>{(p) => (
      <select {...p} className="input" data-field={slot} disabled={form.readOnly} value={same ? '' : goal} onChange={(e) => (e.target.value === '' ? form.set(slot, undefined) : form.aim(slot, e.target.value))}>
        {same && <option value="">continue</option>}
        {side && slot !== 'on_error' && !same && <option value="">continue</option>}
        {choices.map(({ key, name }) => <option key={key} value={key}>{name} ({key}){key === goes ? ', the next step' : ''}</option>)}
        <option value={END}>end the run</option>
        <option value={FAIL}>end the run as failed</option>
      </select>
    )}</Field>
  )
}
