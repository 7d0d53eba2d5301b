import { CircleAlert, Play, TriangleAlert, X } from 'lucide-react'
import { useEffect, useMemo, useRef, useState } from 'react'
import { Field } from '@/parts/Form'
import { addCase, dropOne, goals, rename, target, type Edited } from '../model/edit'
import { freeKey, open } from '../model/graph'
import { outcomesOf, valuesOf } from '../model/hints'
import type { Doc } from '../model/merge'
import { getIn, setIn } from '../model/path'
import type { Trouble } from '../model/problems'
import { sentenceOf } from '../model/sentence'
import { END, FAIL, keyOfStep, keyed, ways } from '../model/ways'
import { kindOf, lookOfStep } from '../steps/kinds'
import type { Hints } from '../useHints'
import { TextField } from './fields'
import { StepFormContext, textOf, useStepForm, type StepForm } from './form'
import { TargetField } from './TargetField'
import { TriggerForm } from './TriggerForm'

// reserved are words that have another meaning in expressions and texts.
const reserved = ['in', 'true', 'false', 'null', 'first', 'last', 'size']

interface Props {
  at: string
  doc: Doc
  change: (next: (doc: Doc) => Doc, mark?: string) => void
  apply: (edited: Edited | null) => void
  troubles: Trouble[]
  hints: Hints
  readOnly: boolean
  onClose: () => void
  // renamed follows a step under its new key.
  renamed: (key: string) => void
}

// StepPanel shows the settings of one step or the trigger.
export function StepPanel({ at, doc, change, apply, troubles, hints, readOnly, onClose, renamed }: Props) {
  const index = doc.steps.findIndex((s, i) => keyOfStep(s, i) === at)
  const step = doc.steps[index]
  const value: Record<string, unknown> = at === 'trigger' ? doc.trigger : (step ?? {})
  const own = useMemo(() => troubles.filter((t) => t.at === at), [troubles, at])
  const root = useRef<HTMLElement>(null)
  const lead = useMemo(() => {
    if (index < 0) return { ways: undefined, choices: [] }
    const may = new Set(goals(doc.steps, at))
    return { ways: ways(doc.steps)[index], choices: doc.steps.map((s, i) => ({ key: keyOfStep(s, i), name: s.name ?? lookOfStep(s.type).word })).filter(({ key }) => may.has(key)) }
  }, [doc.steps, at, index])
  const form = useMemo((): StepForm => {
    const path = at === 'trigger' ? 'trigger' : `steps[${index}]`
    return {
      at, value, steps: doc.steps, hints, readOnly,
      get: (field) => getIn(value, field),
      set: (field, next) => change((d) => setIn(d, `${path}.${field}`, next), `${at}.${field}`),
      put: (next) => change((d) => setIn(d, path, Object.fromEntries(Object.entries(next).filter(([, v]) => v !== undefined)))),
      wrong: (field) => own.find((t) => t.field === field)?.message,
      outcomes: outcomesOf(doc.steps, at),
      valuesOf: (name) => valuesOf(doc.steps, name),
      leadOf: (slot) => ({
        goal: lead.ways?.ways.find((w) => w.slot === slot)?.goal ?? (slot === 'on_error' ? FAIL : (lead.ways?.goes ?? END)), goes: lead.ways?.goes,
        side: step !== undefined && kindOf(step.type).sides.includes(slot), choices: lead.choices,
      }),
      aim: (slot, goal) => apply(target(doc.steps, at, slot, goal)),
      addCase: () => apply(addCase(doc.steps, at)),
      dropOne: (list, i) => apply(dropOne(doc.steps, at, list, i)),
      rename: (key) => { change((d) => rename({ ...d, steps: keyed(d.steps) }, at, key)); renamed(key) },
    }
  }, [at, index, step, value, doc.steps, lead, hints, readOnly, own, change, apply, renamed])
  if (at !== 'trigger' && !step) return null
  const look = step ? lookOfStep(step.type) : { word: 'Trigger', icon: Play }
  const Form = step ? kindOf(step.type).Form : TriggerForm
  const go = (field: string) => {
    const parts = [field, ...field.split('.').map((_, i, all) => all.slice(0, all.length - i).join('.'))]
    const found = parts.map((f) => [...(root.current?.querySelectorAll<HTMLElement>('[data-field]') ?? [])].find((el) => el.dataset.field === f)).find(Boolean)
    found?.closest('details')?.setAttribute('open', '')
    found?.focus()
  }
  return (
    <section ref={root} aria-label={`Settings of ${at === 'trigger' ? 'the trigger' : `the step ${at}`}`} className="flex min-h-0 min-w-0 flex-1 flex-col">
      <header className="flex h-11 flex-none items-center gap-2 border-b border-line px-4">
        <look.icon aria-hidden className="text-ink-2" /><h2 className="min-w-0 truncate">{look.word}</h2>
        <button type="button" className="btn quiet sm square ml-auto" aria-label="Close settings" title="Close (Esc)" onClick={onClose}><X aria-hidden /></button>
      </header>
      <StepFormContext value={form}>
        <form key={at} className="grid min-h-0 flex-1 content-start gap-4 overflow-auto p-4" tabIndex={-1} onSubmit={(e) => e.preventDefault()} onKeyDown={(e) => { if (e.key === 'Escape') onClose() }}>
          {own.length > 0 && (
            <ul className="grid gap-1" aria-label="Problems">{own.map((t, i) => { const Icon = t.bad ? CircleAlert : TriangleAlert; return <li key={i}><button type="button" className={`flex w-full items-start gap-1.5 rounded-control px-2 py-1.5 text-left text-xs wrap-anywhere hover:underline ${t.bad ? 'bg-bad-soft text-bad' : 'bg-warn-soft text-warn'}`} onClick={() => go(t.field)}><Icon aria-hidden className="mt-px !size-3.5" /><span title={t.field || undefined}>{sentenceOf(t)}</span></button></li> })}</ul>
          )}
          {step && <Names />}
          {Form ? <Form /> : <p className="text-ink-2">Steps of type <code>{step?.type}</code> can only be edited as JSON.</p>}
          {step && kindOf(step.type).continues && <TargetField slot="next" label="Then" />}
        </form>
      </StepFormContext>
    </section>
  )
}

// Names edits the name and the key of a step.
function Names() {
  const form = useStepForm()
  const [key, setKey] = useState(form.at)
  useEffect(() => setKey(form.at), [form.at])
  const taken = key !== form.at && freeKey(open(form.steps), key) !== key
  const wrong = reserved.includes(key) ? 'Reserved word in expressions' : !/^[a-z][a-z0-9_]{0,39}$/.test(key) ? 'Must start with a letter a-z, followed by a-z, 0-9 or _' : taken ? 'Another step already uses this key' : form.wrong('key')
  return (
    <div className="grid grid-cols-[minmax(0,1fr)_120px] gap-2">
      <TextField field="name" label="Name" placeholder={lookOfStep(textOf(form.value.type)).word} />
      <Field label="Key" error={wrong}>{(p) => (
        <input {...p} className="input font-mono" data-field="key" title="How other steps and expressions refer to this step" readOnly={form.readOnly} value={key} onChange={(e) => setKey(e.target.value)}
          onBlur={() => { if (wrong) setKey(form.at); else if (key !== form.at) form.rename(key) }} onKeyDown={(e) => { if (e.key === 'Enter' && !wrong && key !== form.at) form.rename(key) }} />
      )}</Field>
    </div>
  )
}
