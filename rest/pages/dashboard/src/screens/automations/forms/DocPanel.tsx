import { Settings2, X } from 'lucide-react'
import { useId } from 'react'
import { Field } from '@/parts/Form'
import { GoalField } from './GoalField'
import type { Doc } from '../model/merge'
import type { Trouble } from '../model/problems'

const zones = typeof Intl.supportedValuesOf === 'function' ? Intl.supportedValuesOf('timeZone') : []

// DocPanel shows the settings of the whole automation.
export function DocPanel({ doc, change, troubles, events, readOnly, onClose }: { doc: Doc; change: (next: (doc: Doc) => Doc, mark?: string) => void; troubles: Trouble[]; events: string[]; readOnly: boolean; onClose: () => void }) {
  const names = useId()
  const wrong = (field: string) => troubles.find((t) => t.at === '' && t.field === field)?.message
  return (
    <section aria-label="Automation settings" className="flex min-h-0 flex-1 flex-col">
      <header className="flex h-11 flex-none items-center gap-2 border-b border-line px-4"><Settings2 aria-hidden className="text-ink-2" /><h2>Automation</h2><button type="button" className="btn quiet sm square ml-auto" aria-label="Close settings" title="Close (Esc)" onClick={onClose}><X aria-hidden /></button></header>
      <form className="grid min-h-0 flex-1 content-start gap-4 overflow-auto p-4" tabIndex={-1} onSubmit={(e) => e.preventDefault()} onKeyDown={(e) => { if (e.key === 'Escape') onClose() }}>
        <Field label="Name" error={wrong('name')}>{(p) => <input {...p} className="input" readOnly={readOnly} value={doc.name} onChange={(e) => change((d) => ({ ...d, name: e.target.value }), 'name')} />}</Field>
        <Field label="Description" error={wrong('description')} hint="For your team.">{(p) => <textarea {...p} className="input" rows={3} readOnly={readOnly} value={doc.description ?? ''} onChange={(e) => change((d) => ({ ...d, description: e.target.value || null }), 'description')} />}</Field>
        <Field label="Time zone" error={wrong('timezone')} hint="Used by steps that wait for a time of day. Defaults to UTC.">{(p) => <><input {...p} className="input" list={names} readOnly={readOnly} value={doc.timezone ?? ''} onChange={(e) => change((d) => ({ ...d, timezone: e.target.value || null }), 'timezone')} /><datalist id={names}>{zones.map((z) => <option key={z} value={z} />)}</datalist></>}</Field>
        <GoalField goal={doc.goal} events={events} wrong={wrong} readOnly={readOnly} change={(goal) => change((d) => ({ ...d, goal }), 'goal')} />
      </form>
    </section>
  )
}
