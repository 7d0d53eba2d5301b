import { useId } from 'react'
import { Field } from '@/parts/Form'
import type { Goal } from '../model/merge'

export const maxGoalDays = 90

// GoalField edits the goal of the automation. Without an event, it has none.
export function GoalField({ goal, events, wrong, readOnly, change }: { goal: Goal | null | undefined; events: string[]; wrong: (field: string) => string | undefined; readOnly: boolean; change: (goal: Goal | null) => void }) {
  const names = useId()
  return (
    <fieldset className="grid gap-3 border-t border-line-soft pt-3" data-field="goal" tabIndex={-1}>
      <legend className="sr-only">Goal</legend>
      <p className="font-medium">Goal</p>
      <Field label="Event" error={wrong('goal.event') ?? wrong('goal')} hint="A run converts when the same person has this event, such as order.paid.">{(p) => (
        <><input {...p} className="input font-mono" list={names} readOnly={readOnly} value={goal?.event ?? ''} onChange={(e) => change(e.target.value ? { event: e.target.value, within_days: goal?.within_days ?? 7 } : null)} /><datalist id={names}>{events.map((v) => <option key={v} value={v} />)}</datalist></>
      )}</Field>
      {goal && <Field label="Days after the run started" error={wrong('goal.within_days')} hint={`1 to ${maxGoalDays}. Runs keep the goal of their version, so activate the draft to use it for new runs.`}>{(p) => (
        <input {...p} className="input" type="number" min={1} max={maxGoalDays} step={1} readOnly={readOnly} value={Number.isFinite(goal.within_days) ? goal.within_days : ''} onChange={(e) => change({ ...goal, within_days: e.target.valueAsNumber })} />
      )}</Field>}
    </fieldset>
  )
}
