import { Save } from 'lucide-react'
import { useCallback, useMemo, useState } from 'react'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Code } from '@/screens/code/Code'
import type { Problem } from './definition'
import { lineOf, placeOf, placesOf } from './places'
import { ProblemList } from './Problems'
import { keyOfStep } from './model/ways'
import type { Draft } from './useDraft'

// Definition shows the draft as JSON, with its problems marked.
export function Definition({ draft: d, write }: { draft: Draft; write: boolean }) {
  const [at, setAt] = useState<{ from: number; to: number }>()
  const { text, doc, troubles } = d
  const json = useMemo(() => placesOf(text), [text])
  const list = useMemo<Problem[]>(() => {
    if (json.error) return [{ path: '', message: json.error.message, severity: 'error' }]
    if (d.broken) return [{ path: '', message: 'A definition needs a name, a trigger and a list of steps, each with a type.', severity: 'error' }]
    return troubles.map((t) => {
      const i = doc?.steps.findIndex((s, n) => keyOfStep(s, n) === t.at) ?? -1
      const path = t.at === 'trigger' ? 'trigger' : i >= 0 ? `steps[${i}]` : ''
      return { path: [path, t.field].filter(Boolean).join('.'), message: t.message, severity: t.bad ? 'error' : 'warning' }
    })
  }, [json.error, d.broken, troubles, doc])
  const find = useCallback((p: Problem) => json.error ?? placeOf(json.places, p.path), [json])
  const marks = useMemo(() => list.map((p) => ({ ...find(p), message: p.message, doubtful: p.severity === 'warning' })), [list, find])
  const ready = write && d.dirty && !d.busy && !d.broken
  return (
    <div className="grid gap-3 p-4 md:p-6">
      {write && (
        <div className="flex flex-wrap items-center gap-2">
          <button type="button" className={`btn ${ready ? 'primary' : ''}`} disabled={!ready} onClick={() => void d.save()} title="Ctrl S"><Save aria-hidden />{d.dirty ? 'Save draft' : 'Saved'}</button>
          {d.dirty && <button type="button" className="btn" onClick={d.drop}>Discard changes</button>}
          <span className="text-xs text-ink-3">Runs aren’t affected until you activate the draft.</span>
        </div>
      )}
      {d.refusal && d.refusal.list.length === 0 && <ErrorAlert title="Not saved. Your text is still here." error={d.refusal.error} retry={() => void d.save()} />}
      {list.length > 0 && (
        <section aria-label="Problems" aria-live="polite">
          <ProblemList problems={list} line={(p) => lineOf(text, find(p).from)} go={(p) => setAt({ ...find(p) })} />
        </section>
      )}
      <Code label="Definition, JSON" language="json" value={text} readOnly={!write} onChange={d.type} marks={marks} at={at} height="h-[62vh] min-h-[320px]" />
    </div>
  )
}
