import { Braces } from 'lucide-react'
import { useId, useRef, useState, type ReactNode } from 'react'
import { Field } from '@/parts/Form'
import { Menu } from '@/parts/Menu'
import { spanOf, textOfSpan, units, wordsOfSpan, type Unit } from '../model/duration'
import { textOf, useStepForm } from './form'

interface Props {
  field: string
  label: ReactNode
  hint?: ReactNode
}

type Area = HTMLInputElement & HTMLTextAreaElement

// TextField is one line, or several; with `liquid` values of the event can be put into it.
export function TextField({ field, label, hint, liquid, rows, mono, list, placeholder }: Props & { liquid?: boolean; rows?: number; mono?: boolean; list?: string[]; placeholder?: string }) {
  const form = useStepForm()
  const names = useId()
  const input = useRef<Area>(null)
  const value = textOf(form.get(field))
  const shared = { className: `input ${mono ? 'font-mono' : ''}`, value, placeholder, readOnly: form.readOnly, 'data-field': field, onChange: (e: { target: { value: string } }) => form.set(field, e.target.value) }
  return (
    <div className="relative">
      <Field label={label} hint={hint} error={form.wrong(field)}>{(p) => (rows ? <textarea {...p} {...shared} ref={input} rows={rows} /> : <input {...p} {...shared} ref={input} list={list && names} />)}</Field>
      {list && <datalist id={names}>{list.map((v) => <option key={v} value={v} />)}</datalist>}
      {liquid && !form.readOnly && <div className="absolute -top-1 right-0"><Values into={(text) => form.set(field, spliced(input.current, value, text))} /></div>}
    </div>
  )
}

// spliced inserts a text at the cursor.
function spliced(input: Area | null, value: string, text: string): string {
  const [from, to] = [input?.selectionStart ?? value.length, input?.selectionEnd ?? value.length]
  return value.slice(0, from) + text + value.slice(to)
}

// Values offers the variables that a text can use.
export function Values({ into }: { into: (text: string) => void }) {
  const { hints, outcomes } = useStepForm()
  const paths = [...hints.paths, ...outcomes]
  return (
    <Menu entries={paths.slice(0, 40).map((p) => ({ name: p, run: () => into(`{{ ${p} }}`) }))}>
      <button type="button" className="btn quiet sm !h-6 !px-1.5" title="Insert an event value"><Braces aria-hidden />Value</button>
    </Menu>
  )
}

// SpanField is a span of time: a number and a unit, or for odd ones the text.
export function SpanField({ field, label, hint, empty }: Props & { empty?: string }) {
  const form = useStepForm()
  const text = textOf(form.get(field))
  const span = spanOf(text)
  const [unit, setUnit] = useState<Unit>(span?.unit ?? 'D')
  const odd = text !== '' && !span
  if (odd) return <TextField field={field} label={label} hint={<>{wordsOfSpan(text) === text ? 'For example, PT30M, PT2H, P3D or P1DT12H.' : wordsOfSpan(text)}{hint && <> {hint}</>}</>} mono />
  const name = span?.unit ?? unit
  return (
    <Field label={label} hint={hint ?? (text === '' ? empty : undefined)} error={form.wrong(field)}>{(p) => (
      <span className="flex gap-2">
        <input {...p} className="input !w-24" type="number" min={1} data-field={field} readOnly={form.readOnly} value={span?.n ?? ''} onChange={(e) => form.set(field, e.target.value === '' ? undefined : textOfSpan(Math.max(0, Math.trunc(Number(e.target.value))), name))} />
        <select className="input" aria-label="Unit" disabled={form.readOnly} value={name} onChange={(e) => { const u = e.target.value as Unit; setUnit(u); if (span) form.set(field, textOfSpan(span.n, u)) }}>{units.map((u) => <option key={u.unit} value={u.unit}>{span?.n === 1 ? u.one : u.name}</option>)}</select>
      </span>
    )}</Field>
  )
}

export function ChoiceField({ field, label, hint, choices, fallback }: Props & { choices: [string, string][]; fallback?: string }) {
  const form = useStepForm()
  return (
    <Field label={label} hint={hint} error={form.wrong(field)}>{(p) => (
      <select {...p} className="input" data-field={field} disabled={form.readOnly} value={textOf(form.get(field)) || fallback} onChange={(e) => form.set(field, e.target.value === fallback ? undefined : e.target.value)}>{choices.map(([v, name]) => <option key={v} value={v}>{name}</option>)}</select>
    )}</Field>
  )
}

export function CheckField({ field, label, hint }: Props) {
  const form = useStepForm()
  const id = useId()
  return (
    <div className="grid gap-1">
      <label htmlFor={id} className="flex items-center gap-2"><input id={id} type="checkbox" data-field={field} className="size-4 accent-accent-fill" disabled={form.readOnly} checked={form.get(field) === true} onChange={(e) => form.set(field, e.target.checked ? true : undefined)} />{label}</label>
      {(form.wrong(field) ?? hint) && <p className={`text-xs ${form.wrong(field) ? 'text-bad' : 'text-ink-3'}`}>{form.wrong(field) ?? hint}</p>}
    </div>
  )
}

// ListField is one text, or several with commas between them.
export function ListField({ field, label, hint, list, placeholder }: Props & { list?: string[]; placeholder?: string }) {
  const form = useStepForm()
  const names = useId()
  const read = form.get(field)
  const value = Array.isArray(read) ? read.map(String).join(', ') : textOf(read)
  const [typed, setTyped] = useState<string | null>(null)
  const write = (text: string) => {
    setTyped(text)
    const all = text.split(',').map((t) => t.trim()).filter(Boolean)
    form.set(field, all.length > 1 ? all : (all[0] ?? undefined))
  }
  return (
    <Field label={label} hint={hint} error={form.wrong(field)}>{(p) => <><input {...p} className="input" data-field={field} list={list && names} placeholder={placeholder} readOnly={form.readOnly} value={typed ?? value} onChange={(e) => write(e.target.value)} onBlur={() => setTyped(null)} />{list && <datalist id={names}>{list.map((v) => <option key={v} value={v} />)}</datalist>}</>}</Field>
  )
}

// More holds fields that most people need seldom. It is open where one of them is set or wrong.
export function More({ title, fields, children }: { title: string; fields: string[]; children: ReactNode }) {
  const form = useStepForm()
  const [open] = useState(() => fields.some((f) => form.get(f) !== undefined))
  const wrong = fields.some((f) => form.wrong(f))
  return (
    <details open={open || wrong} className="border-t border-line-soft pt-3">
      <summary className="cursor-pointer font-medium text-ink-2">{title}</summary>
      <div className="mt-3 grid gap-3">{children}</div>
    </details>
  )
}
