import { Plus, Trash2 } from 'lucide-react'
import type { ReactNode } from 'react'
import { sampleOf, typesOf, undeclared, type Draft, type Variable, type VariableType } from './draft'

interface Props {
  draft: Draft
  locked: boolean
  wrong: Record<string, string>
  change: (variables: Variable[]) => void
  // samples are the examples that a reader enters, who cannot change the template.
  samples: Record<string, string>
  sample: (key: string, value: string) => void
}

const multi = (t: VariableType) => t === 'list' || t === 'object'

// Variables lists the variables of a template, each with an example for the preview and test sends.
export function Variables({ draft, locked, wrong, change, samples, sample }: Props) {
  const set = (index: number, more: Partial<Variable>) => change(draft.variables.map((v, i) => (i === index ? { ...v, ...more } : v)))
  const add = (key: string) => change([...draft.variables, { key, type: 'string', required: false, fallback: '', example: '' }])
  const example = (v: Variable, index: number, text: string) => (locked ? sample(v.key, text) : set(index, { example: text }))
  // Without an example, the preview uses the value that is shown as a placeholder.
  const exampleOf = (v: Variable, i: number) => ({ value: samples[v.key] ?? v.example, placeholder: sampleOf(v), onChange: (e: { target: { value: string } }) => example(v, i, e.target.value) })
  const missing = undeclared(draft)
  const problems = Object.entries(wrong).filter(([k]) => k.startsWith('variables'))
  return (
    <div className="grid gap-3">
      {missing.length > 0 && (
        <div className="flex flex-wrap items-center gap-2 rounded-control bg-warn-soft px-3 py-2 text-warn" role="status">
          <span>Used in the template but not declared:</span>
          {missing.map((key) => (locked ? <code key={key}>{key}</code> : <button key={key} type="button" className="btn sm" onClick={() => add(key)}><Plus aria-hidden />{key}</button>))}
        </div>
      )}
      {problems.map(([k, why]) => <p key={k} role="alert" className="text-xs text-bad"><code>{k}</code> {why}</p>)}
      {draft.variables.length === 0 && <p className="text-ink-2">No variables. Write <code>{'{{ name }}'}</code> in the template and add <code>name</code> here.</p>}
      <ul className="grid gap-3">
        {draft.variables.map((v, i) => (
          <li key={i} className="grid gap-2 rounded-control border border-line p-3">
            <div className="flex flex-wrap items-end gap-2">
              <Labelled label="Name" className="flex-[2_1_150px]"><input className="input font-mono" value={v.key} readOnly={locked} onChange={(e) => set(i, { key: e.target.value })} spellCheck={false} /></Labelled>
              <Labelled label="Type" className="flex-[1_1_90px]">
                <select className="input" value={v.type} disabled={locked} onChange={(e) => set(i, { type: e.target.value as VariableType })}>{typesOf.map((t) => <option key={t}>{t}</option>)}</select>
              </Labelled>
              <Labelled label="Fallback" className="flex-[2_1_120px]"><input className="input" value={v.fallback} placeholder="none" readOnly={locked} onChange={(e) => set(i, { fallback: e.target.value })} /></Labelled>
              {v.type === 'string' && v.fallback === '' && <label className="flex h-[34px] items-center gap-1.5"><input type="checkbox" checked={v.emptyFallback ?? false} disabled={locked} onChange={(e) => set(i, { emptyFallback: e.target.checked ? true : undefined })} className="accent-accent-fill" />Empty if missing</label>}
              <label className="flex h-[34px] items-center gap-1.5"><input type="checkbox" checked={v.required} disabled={locked} onChange={(e) => set(i, { required: e.target.checked })} className="accent-accent-fill" />Required</label>
              {!locked && <button type="button" className="btn quiet square" aria-label={`Remove ${v.key || 'the variable'}`} onClick={() => change(draft.variables.filter((_, j) => j !== i))}><Trash2 aria-hidden /></button>}
            </div>
            <Labelled label={multi(v.type) ? 'Example for the preview, in JSON' : 'Example for the preview'}>
              {v.type === 'number' || v.type === 'boolean'
                ? <input className="input" {...exampleOf(v, i)} />
                : <textarea className={`input ${multi(v.type) ? 'font-mono' : ''}`} rows={multi(v.type) ? 3 : Math.min(v.example.split('\n').length, 6)} spellCheck={!multi(v.type)} {...exampleOf(v, i)} />}
            </Labelled>
          </li>
        ))}
      </ul>
      {!locked && <div><button type="button" className="btn" onClick={() => add('')}><Plus aria-hidden />Add a variable</button></div>}
    </div>
  )
}

function Labelled({ label, className = '', children }: { label: string; className?: string; children: ReactNode }) {
  return <label className={`grid min-w-0 gap-1 ${className}`}><span className="text-xs text-ink-3">{label}</span>{children}</label>
}
