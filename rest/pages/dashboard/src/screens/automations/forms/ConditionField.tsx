import { Plus, Trash2 } from 'lucide-react'
import { useEffect, useId, useRef, useState, type ReactNode } from 'react'
import { CircleAlert } from 'lucide-react'
import { SegmentedControl } from '@/parts/Tabs'
import { rowsOf, signs, textOfRows, type Row, type Rows, type Sign } from '../model/expression'
import { textOf, useStepForm } from './form'

const empty: Row = { left: '', sign: '==', right: '', quoted: false }

// ConditionField edits a condition, as rows or as an expression.
export function ConditionField({ field, label, hint, optional, arriving }: { field: string; label: string; hint?: ReactNode; optional?: boolean; arriving?: boolean }) {
  const form = useStepForm()
  const id = useId()
  const source = textOf(form.get(field))
  const [rows, setRows] = useState<Rows | null>(() => rowsOf(source))
  const [byHand, setByHand] = useState(rows === null)
  const written = useRef(source)
  // Changes made elsewhere (undo, JSON) are read again.
  useEffect(() => {
    if (source === written.current) return
    written.current = source
    const read = rowsOf(source)
    setRows(read)
    if (!read) setByHand(true)
  }, [source])
  const write = (next: Rows) => {
    setRows(next)
    written.current = textOfRows(next)
    form.set(field, written.current)
  }
  const wrong = form.wrong(field)
  const shown = rows && (rows.rows.length > 0 || optional ? rows : { ...rows, rows: [empty] })
  const change = (i: number, more: Partial<Row>) => shown && write({ ...shown, rows: shown.rows.map((r, j) => (j === i ? { ...r, ...more } : r)) })
  const paths = [...form.hints.paths, ...(arriving ? form.hints.paths.map((p) => p.replace(/^event/, 'trigger')) : []), ...form.outcomes]
  return (
    <fieldset className="grid min-w-0 gap-2">
      <legend className="mb-1 flex w-full items-center gap-2 font-medium">{label}</legend>
      {byHand || !shown ? (
        <textarea className="input font-mono text-xs" rows={3} aria-label={`${label}, as an expression`} data-field={field} aria-invalid={wrong ? true : undefined} readOnly={form.readOnly} value={source} onChange={(e) => { written.current = e.target.value; form.set(field, e.target.value); setRows(rowsOf(e.target.value)) }} />
      ) : (
        <div className="grid gap-2" data-field={field} tabIndex={-1}>
          {shown.rows.length > 1 && <SegmentedControl label="Combine conditions" value={shown.all ? 'all' : 'any'} onChange={(k) => write({ ...shown, all: k === 'all' })} choices={[{ key: 'all', name: 'All of these' }, { key: 'any', name: 'Any of these' }]} />}
          {shown.rows.map((r, i) => (
            <div key={i} className="grid grid-cols-[minmax(0,1fr)_auto] gap-1.5 rounded-control border border-line p-2">
              <input className="input font-mono !text-xs" list={`${id}-paths`} placeholder="event.data.plan" aria-label={`Condition ${i + 1}: field`} readOnly={form.readOnly} value={r.left} onChange={(e) => change(i, { left: e.target.value.trim() })} />
              <button type="button" className="btn quiet square" aria-label={`Remove condition ${i + 1}`} disabled={form.readOnly} onClick={() => write({ ...shown, rows: shown.rows.filter((_, j) => j !== i) })}><Trash2 aria-hidden /></button>
              <div className="col-span-2 flex gap-1.5">
                <select className="input !w-32 flex-none" aria-label={`Condition ${i + 1}: operator`} disabled={form.readOnly} value={r.sign} onChange={(e) => change(i, { sign: e.target.value as Sign })}>{signs.map((s) => <option key={s.sign} value={s.sign}>{s.name}</option>)}</select>
                {!signs.find((s) => s.sign === r.sign)?.unary && <><input className="input" list={`${id}-values-${i}`} placeholder={r.sign === 'in' ? 'free, pro' : 'value'} aria-label={`Condition ${i + 1}: value`} readOnly={form.readOnly} value={r.right} onChange={(e) => change(i, { right: e.target.value, quoted: false })} /><datalist id={`${id}-values-${i}`}>{form.valuesOf(r.left).map((v) => <option key={v} value={v} />)}</datalist></>}
              </div>
            </div>
          ))}
          <datalist id={`${id}-paths`}>{paths.map((p) => <option key={p} value={p} />)}</datalist>
        </div>
      )}
      <div className="flex flex-wrap gap-2">
        {!byHand && shown && !form.readOnly && <button type="button" className="btn sm" onClick={() => write({ ...shown, rows: [...shown.rows, empty] })}><Plus aria-hidden />{shown.rows.length === 0 ? 'Add a condition' : 'Add condition'}</button>}
        {(source !== '' || byHand) && <button type="button" className="btn quiet sm" disabled={byHand && !rows} title={byHand && !rows ? 'This expression is too complex for the condition builder' : undefined} onClick={() => { written.current = source; setRows(rowsOf(source)); setByHand(!byHand) }}>{byHand ? 'Use builder' : 'Use expression'}</button>}
      </div>
      {(wrong || hint) && <p className={`flex items-start gap-1 text-xs wrap-anywhere ${wrong ? 'text-bad' : 'text-ink-3'}`}>{wrong && <CircleAlert aria-hidden className="mt-px !size-3.5" />}{wrong ?? hint}</p>}
    </fieldset>
  )
}
