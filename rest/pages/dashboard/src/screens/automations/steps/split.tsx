import { Plus, Split, Trash2 } from 'lucide-react'
import { Field } from '@/parts/Form'
import { textOf, useStepForm } from '../forms/form'
import { TargetField } from '../forms/TargetField'
import { listOf, slot, type Step } from '../model/step'
import { defineStep } from './kind'

export default defineStep({
  type: 'split', order: 8, word: 'Split', icon: Split, about: 'divide users between variants',
  make: () => ({ key: 'split', type: 'split', variants: [{ key: 'a', weight: 50 }, { key: 'b', weight: 50 }] }),
  setting: (s) => listOf(s.variants).map((v) => `${String(v.key)} ${String(v.weight)}`).join(' : '),
  ways: (s) => {
    const variants = listOf(s.variants)
    const sum = variants.reduce((n, v) => n + (Number(v.weight) || 0), 0)
    return variants.map((v, i) => slot(`variants[${i}].goto`, `${String(v.key)}, weight ${String(v.weight)}`, `${String(v.key)} ${sum > 0 ? `${Math.round((100 * (Number(v.weight) || 0)) / sum)} %` : ''}`.trim()))
  },
  outputs: ['variant'],
  took: (s, output) => `variants[${indexOf(s, output.variant)}].goto`,
  wordOf: (output) => (output.variant ? String(output.variant) : ''),
  Form: SplitForm,
})

const indexOf = (s: Step, key: unknown) => (Array.isArray(s.variants) ? s.variants.findIndex((v: { key?: unknown }) => v.key === key) : -1)

function SplitForm() {
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
