import { useMemo } from 'react'
import { Field } from '@/parts/Form'
import { goals, sides } from '../model/edit'
import { END, FAIL, keyOfStep, ways } from '../model/ways'
import { lookOfStep } from '../status'
import { useStepForm } from './form'

// TargetField says where a way of the step leads.
export function TargetField({ slot, label, hint }: { slot: string; label: string; hint?: string }) {
  const form = useStepForm()
  const { steps, at } = form
  const index = steps.findIndex((s, i) => keyOfStep(s, i) === at)
  const all = useMemo(() => ways(steps), [steps])
  const own = all[index]
  const side = sides[steps[index]?.type ?? '']?.includes(slot) ?? false
  const goal = own?.ways.find((w) => w.slot === slot)?.goal ?? (slot === 'on_error' ? FAIL : (own?.goes ?? END))
  const same = side && slot !== 'on_error' && form.get(slot) === undefined
  const choices = useMemo(() => new Set(goals(steps, at)), [steps, at])
  return (
    <Field label={label} hint={hint} error={form.wrong(slot) ?? form.wrong(`${slot}.goto`)}>{(p) => (
      <select {...p} className="input" data-field={slot} disabled={form.readOnly} value={same ? '' : goal} onChange={(e) => (e.target.value === '' ? form.set(slot, undefined) : form.aim(slot, e.target.value))}>
        {same && <option value="">continue</option>}
        {side && slot !== 'on_error' && !same && <option value="">continue</option>}
        {steps.map((s, i) => ({ key: keyOfStep(s, i), s })).filter(({ key }) => choices.has(key)).map(({ key, s }) => <option key={key} value={key}>{(s.name ?? lookOfStep(s.type).word)} ({key}){key === own?.goes ? ', the next step' : ''}</option>)}
        <option value={END}>end the run</option>
        <option value={FAIL}>end the run as failed</option>
      </select>
    )}</Field>
  )
}
