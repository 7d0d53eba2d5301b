import { Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { listOf } from '../model/step'
import { useStepForm } from './form'

interface Pair {
  name: string
  value: string
}

function Pairs({ label, hint, read, write, wrong, field }: { label: string; hint?: string; read: Pair[]; write: (pairs: Pair[]) => void; wrong?: string; field: string }) {
  const { readOnly } = useStepForm()
  // Lines without a name are not written yet.
  const [lines, setLines] = useState<Pair[] | null>(null)
  const shown = lines ?? read
  const change = (next: Pair[]) => {
    setLines(next)
    write(next.filter((p) => p.name !== ''))
  }
  return (
    <fieldset className="grid gap-1.5" data-field={field} tabIndex={-1}>
      <legend className="mb-1 font-medium">{label}</legend>
      {shown.map((p, i) => (
        <div key={i} className="flex gap-1.5">
          <input className="input" aria-label={`${label}, name ${i + 1}`} placeholder="name" readOnly={readOnly} value={p.name} onChange={(e) => change(shown.map((o, j) => (j === i ? { ...o, name: e.target.value } : o)))} />
          <input className="input" aria-label={`${label}, value ${i + 1}`} placeholder="value" readOnly={readOnly} value={p.value} onChange={(e) => change(shown.map((o, j) => (j === i ? { ...o, value: e.target.value } : o)))} />
          {!readOnly && <button type="button" className="btn quiet square" aria-label={`Remove ${p.name || `line ${i + 1}`}`} onClick={() => change(shown.filter((_, j) => j !== i))}><Trash2 aria-hidden /></button>}
        </div>
      ))}
      {!readOnly && <div><button type="button" className="btn sm" onClick={() => setLines([...shown, { name: '', value: '' }])}><Plus aria-hidden />Add</button></div>}
      {(wrong ?? hint) && <p className={`text-xs ${wrong ? 'text-bad' : 'text-ink-3'}`}>{wrong ?? hint}</p>}
    </fieldset>
  )
}

// wrongOf finds what is wrong with a field or with anything in it.
function useWrong(field: string) {
  const form = useStepForm()
  const value = form.get(field)
  const inside = Array.isArray(value) ? value.flatMap((_, i) => [`${field}[${i}]`, `${field}[${i}].name`, `${field}[${i}].value`]) : Object.keys((value ?? {}) as object).map((k) => `${field}.${k}`)
  return [field, ...inside].map((f) => form.wrong(f)).find(Boolean)
}

// PairsField is an object of texts.
export function PairsField({ field, label, hint }: { field: string; label: string; hint?: string }) {
  const form = useStepForm()
  const read = Object.entries((form.get(field) ?? {}) as Record<string, unknown>).map(([name, value]) => ({ name, value: String(value) }))
  return <Pairs label={label} hint={hint} field={field} read={read} wrong={useWrong(field)} write={(pairs) => form.set(field, Object.fromEntries(pairs.map((p) => [p.name, p.value])))} />
}

// TagsField is a list of names and values.
export function TagsField({ field, label, hint }: { field: string; label: string; hint?: string }) {
  const form = useStepForm()
  const read = listOf(form.get(field)).map((p) => ({ name: String(p.name ?? ''), value: String(p.value ?? '') }))
  return <Pairs label={label} hint={hint} field={field} read={read} wrong={useWrong(field)} write={(pairs) => form.set(field, pairs)} />
}
