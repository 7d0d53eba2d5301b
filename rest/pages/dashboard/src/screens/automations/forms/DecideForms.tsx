import { Plus, Trash2 } from 'lucide-react'
import { Field } from '@/parts/Form'
import { listOf } from '../model/ways'
import { ConditionField } from './ConditionField'
import { ChoiceField } from './fields'
import { textOf, useStepForm } from './form'
import { TargetField } from './TargetField'

export function ConditionForm() {
  return (
    <>
      <ConditionField field="if" label="If" hint="A missing value counts as false." />
      <TargetField slot="on_true" label="If true" />
      <TargetField slot="on_false" label="Otherwise" />
    </>
  )
}

export function BranchForm() {
  const form = useStepForm()
  const cases = listOf(form.get('cases'))
  return (
    <>
      <p className="text-ink-2">The first matching case is used.</p>
      {cases.map((_, i) => (
        <section key={i} aria-label={`Case ${i + 1}`} className="grid gap-3 rounded-card border border-line p-3">
          <div className="flex items-center"><h3 className="font-medium">Case {i + 1}</h3>{cases.length > 1 && !form.readOnly && <button type="button" className="btn quiet sm square ml-auto" aria-label={`Delete case ${i + 1}`} onClick={() => form.dropOne('cases', i)}><Trash2 aria-hidden /></button>}</div>
          <ConditionField field={`cases[${i}].if`} label="If" />
          <TargetField slot={`cases[${i}].goto`} label="Then" />
        </section>
      ))}
      {cases.length < 10 && !form.readOnly && <div><button type="button" className="btn" onClick={form.addCase}><Plus aria-hidden />Add a case</button></div>}
      <TargetField slot="otherwise" label="Otherwise" />
    </>
  )
}

export function SplitForm() {
  const form = useStepForm()
  const variants = listOf(form.get('variants'))
  const sum = variants.reduce((n, v) => n + (Number(v.weight) || 0), 0)
  const free = 'abcdefgh'.split('').find((k) => !variants.some((v) => v.key === k)) ?? `v${variants.length + 1}`
  return (
    <>
      <p className="text-ink-2">Each user always gets the same variant.</p>
      {variants.map((v, i) => (
        <section key={i} aria-label={`Variant ${i + 1}`} className="grid gap-3 rounded-card border border-line p-3">
          <div className="flex items-center"><h3 className="font-medium">Variant {textOf(v.key)}</h3><span className="ml-2 text-xs text-ink-3">{sum > 0 ? `${Math.round((100 * (Number(v.weight) || 0)) / sum)} % of users` : ''}</span>{variants.length > 2 && !form.readOnly && <button type="button" className="btn quiet sm square ml-auto" aria-label={`Delete variant ${textOf(v.key)}`} onClick={() => form.dropOne('variants', i)}><Trash2 aria-hidden /></button>}</div>
          <div className="grid grid-cols-2 gap-2">
            <Field label="Key" error={form.wrong(`variants[${i}].key`)}>{(p) => <input {...p} className="input font-mono" data-field={`variants[${i}].key`} readOnly={form.readOnly} value={textOf(v.key)} onChange={(e) => form.set(`variants[${i}].key`, e.target.value)} />}</Field>
            <Field label="Weight" error={form.wrong(`variants[${i}].weight`)}>{(p) => <input {...p} className="input" type="number" min={1} data-field={`variants[${i}].weight`} readOnly={form.readOnly} value={textOf(v.weight)} onChange={(e) => form.set(`variants[${i}].weight`, e.target.value === '' ? undefined : Number(e.target.value))} />}</Field>
          </div>
          <TargetField slot={`variants[${i}].goto`} label="Then" />
        </section>
      ))}
      {variants.length < 5 && !form.readOnly && <div><button type="button" className="btn" onClick={() => form.set('variants', [...variants, { key: free, weight: 50 }])}><Plus aria-hidden />Add a variant</button></div>}
    </>
  )
}

export function EndForm() {
  return <ChoiceField field="outcome" label="End the run as" fallback="completed" choices={[['completed', 'completed'], ['failed', 'failed']]} />
}
