import { ListTree, Redo2, Save, Settings2, Undo2, Workflow, X } from 'lucide-react'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useSearchParams } from '@/app/searchParams'
import { toast } from '@/app/toasts'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { SegmentedControl } from '@/parts/Tabs'
import { CanvasPane } from './CanvasPane'
import type { Detail } from './definition'
import { DocPanel } from './forms/DocPanel'
import { StepPanel } from './forms/StepPanel'
import { duplicate, insert, move, remove, removed, shift, type Edited, type Place } from './model/edit'
import { keyOfStep, type Step } from './model/ways'
import { kinds } from './steps/kinds'
import { Outline } from './Outline'
import { SceneContext, toStep, toPanel, type Editing, type Figures, type Mark, type Scene } from './scene'
import type { Draft } from './useDraft'
import { useHints } from './useHints'

interface Props {
  automation: Detail
  draft: Draft
  write: boolean
  trace: { marks: Map<string, Mark>; taken: Set<string>; clear: () => void } | null
}

const noMarks = { marks: new Map<string, Mark>(), taken: new Set<string>() }

// Builder edits an automation: the outline, the canvas next to it, and the settings of the selected step.
export function Builder({ automation: a, draft, write, trace }: Props) {
  const [address, go] = useSearchParams()
  const { doc } = draft
  const selected = address.step ?? null
  const view = address.view === 'canvas' ? 'canvas' : 'outline'
  const [carried, setCarried] = useState<string | null>(null)
  const select = useCallback((key: string | null) => go({ step: key ?? undefined }), [go])
  const hints = useHints(doc, write)
  const figures = useMemo(() => new Map<string, Figures>(a.steps.map((s) => [s.key, s])), [a.steps])
  const { change, undo } = draft
  const back = useRef(undo)
  back.current = undo

  const apply = useCallback((edited: Edited | null, say?: string) => {
    if (!edited) return toast.error(new Error('A run can only move forward.'))
    change((d) => ({ ...d, steps: edited.steps }))
    if (say) toast.success(say, { label: 'Undo', run: () => back.current?.() })
    return undefined
  }, [change])

  const edit = useMemo((): Editing | undefined => {
    if (!write || !doc) return undefined
    const { steps } = doc
    return {
      insert: (place: Place, type: string) => {
        const made = kinds.find((k) => k.type === type)?.make({ from: hints.senders.length === 1 ? (hints.senders[0] ?? '') : lastFrom(steps) })
        const edited = made ? insert(steps, place, made) : null
        apply(edited)
        if (!edited) return
        select(edited.key)
        toPanel()
      },
      shift: (key, by) => {
        const edited = shift(steps, key, by)
        if (edited) { apply(edited); toStep(key) }
      },
      duplicate: (key) => {
        const edited = duplicate(steps, key)
        apply(edited)
        if (edited) select(edited.key)
      },
      remove: (key) => {
        const gone = removed(steps, key)
        const edited = remove(steps, key)
        apply(edited, gone.length > 1 ? gone.length > 2 ? `Deleted, along with ${gone.length - 1} steps reachable only from it` : 'Deleted, along with a step reachable only from it' : undefined)
        if (!edited) return
        if (selected && gone.includes(selected)) select(null)
        toStep(edited.key || 'trigger')
      },
      carried, carry: setCarried,
      put: (place) => {
        if (!carried) return
        apply(move(steps, carried, place))
        setCarried(null)
        toStep(carried)
      },
    }
  }, [write, doc, hints.senders, carried, selected, apply, select])

  // Ctrl Z and Ctrl Y, except in fields, which have their own.
  const { redo } = draft
  useEffect(() => {
    const press = (e: KeyboardEvent) => {
      if (!(e.ctrlKey || e.metaKey) || e.altKey || (e.target as HTMLElement).closest('input, textarea, select, [contenteditable]')) return
      const back = e.key === 'z' && !e.shiftKey
      const forth = e.key === 'y' || (e.key.toLowerCase() === 'z' && e.shiftKey)
      if (!back && !forth) return
      e.preventDefault()
      if (back) undo?.()
      else redo?.()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [undo, redo])

  const shown = trace ?? noMarks
  const scene = useMemo((): Scene => ({
    trigger: doc?.trigger ?? {}, steps: doc?.steps ?? [], figures, troubles: draft.troubles, marks: shown.marks, taken: shown.taken, selected, select, edit,
    runs: (key) => go({ tab: 'runs', q: `step:${key}`, step: undefined }, true),
  }), [doc, figures, draft.troubles, shown.marks, shown.taken, selected, select, edit, go])

  if (!doc) return null
  if (draft.broken) return <p className="m-4 rounded-control bg-warn-soft px-3 py-2 text-warn md:m-6">The draft’s JSON is incomplete. Finish it in the JSON tab, or discard it there.</p>
  const known = selected === 'settings' || selected === 'trigger' || doc.steps.some((s, i) => keyOfStep(s, i) === selected)
  const panel = selected && known
  return (
    <SceneContext value={scene}>
      <div className="flex min-h-0 flex-col md:h-full">
        <Toolbar draft={draft} write={write} view={view} setView={(v) => go({ view: v === 'canvas' ? v : undefined, step: undefined })} settings={() => select('settings')} />
        {carried && <p role="status" className="flex flex-none items-center gap-2 border-b border-line bg-accent-soft px-4 py-1.5 text-accent">Choose a new position for {carried}.<button type="button" className="btn sm ml-auto" onClick={() => setCarried(null)}>Cancel move</button></p>}
        {trace && <p className="flex flex-none items-center gap-2 border-b border-line bg-accent-soft px-4 py-1.5 text-accent">Path of the last dry run.<button type="button" className="btn sm ml-auto" onClick={trace.clear}><X aria-hidden />Hide</button></p>}
        {draft.refusal && draft.refusal.error !== null && draft.troubles.length === 0 && <div className="p-3"><ErrorAlert title="Not saved. Your changes are still here." error={draft.refusal.error} retry={() => void draft.save()} /></div>}
        <div className={`grid min-h-0 flex-1 ${panel ? 'md:grid-cols-[minmax(320px,2fr)_minmax(0,3fr)] lg:grid-cols-[300px_minmax(0,1fr)_360px]' : 'md:grid-cols-[minmax(300px,360px)_minmax(0,1fr)]'}`}>
          <div className={`min-h-0 min-w-0 overflow-auto border-line p-4 md:border-r md:pl-6 ${panel ? 'max-lg:hidden' : view === 'canvas' ? 'max-md:hidden' : ''}`} tabIndex={-1}>
            <Outline />
            {write && <p className="mt-3 text-xs text-ink-3 max-md:hidden"><kbd className="key">↑</kbd> <kbd className="key">↓</kbd> move between steps, <kbd className="key">Enter</kbd> opens one, <kbd className="key">+</kbd> adds one, <kbd className="key">Alt</kbd> with an arrow moves it, <kbd className="key">Del</kbd> deletes it.</p>}
            <p className="mt-2 text-xs text-ink-3">All versions. Updates every 10 seconds.</p>
          </div>
          <div className={`h-[64vh] min-h-[360px] min-w-0 md:h-auto md:min-h-0 ${view === 'canvas' && !panel ? '' : 'max-md:hidden'} ${panel ? 'max-lg:order-2' : ''}`}><CanvasPane /></div>
          {panel && (
            <div data-panel className="flex min-h-0 min-w-0 flex-col border-line bg-surface max-lg:order-1 max-lg:md:border-r lg:border-l">
              {selected === 'settings'
                ? <DocPanel doc={doc} change={change} troubles={draft.troubles} events={hints.events} readOnly={!write} onClose={() => select(null)} />
                : <StepPanel at={selected} doc={doc} change={change} apply={apply} troubles={draft.troubles} hints={hints} readOnly={!write} onClose={() => { select(null); toStep(selected) }} renamed={select} />}
            </div>
          )}
        </div>
      </div>
    </SceneContext>
  )
}

// lastFrom is the sender of other steps.
const lastFrom = (steps: Step[]): string => String(steps.map((s) => s.from).filter((f) => typeof f === 'string').at(-1) ?? '')

function Toolbar({ draft: d, write, view, setView, settings }: { draft: Draft; write: boolean; view: 'outline' | 'canvas'; setView: (v: 'outline' | 'canvas') => void; settings: () => void }) {
  return (
    <div role="toolbar" aria-label="Draft" className="flex flex-none flex-wrap items-center gap-2 border-b border-line px-4 py-2 md:px-6">
      {write && (
        <>
          <button type="button" className={`btn ${d.dirty ? 'primary' : ''}`} disabled={!d.dirty || d.busy || d.broken} onClick={() => void d.save()} title="Ctrl S"><Save aria-hidden />{d.dirty ? 'Save draft' : 'Saved'}</button>
          <button type="button" className="btn square" aria-label="Undo" title="Undo (Ctrl Z)" disabled={!d.undo} onClick={d.undo}><Undo2 aria-hidden /></button>
          <button type="button" className="btn square" aria-label="Redo" title="Redo (Ctrl Y)" disabled={!d.redo} onClick={d.redo}><Redo2 aria-hidden /></button>
          {d.dirty && <button type="button" className="btn quiet max-md:hidden" onClick={d.drop}>Discard changes</button>}
        </>
      )}
      <span className="ml-auto" />
      <button type="button" className="btn max-md:w-[30px] max-md:px-0" onClick={settings}><Settings2 aria-hidden /><span className="max-md:sr-only">Name, time zone and goal</span></button>
      <span className="md:hidden"><SegmentedControl label="View" value={view} onChange={setView} choices={[{ key: 'outline', name: 'Outline', icon: <ListTree aria-hidden /> }, { key: 'canvas', name: 'Canvas', icon: <Workflow aria-hidden /> }]} /></span>
    </div>
  )
}
