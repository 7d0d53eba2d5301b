import { useMemo, useState } from 'react'
import { Dialog } from '@/parts/Dialog'
import { Segments } from '@/parts/Tabs'
import { Time } from '@/parts/Time'
import { docOf } from './definition'
import { merge, type Change, type Side } from './model/merge'
import { settingOf } from './model/summary'
import { keyOfStep, type Step } from './model/ways'
import { lookOfStep } from './status'
import type { Draft } from './useDraft'

// ConflictDialog tells the second of two people who change one draft what the other one has saved, and
// puts both together. Nothing is lost: each state is one step of undo away.
export function ConflictDialog({ draft }: { draft: Draft }) {
  const { conflict } = draft
  const [chosen, setChosen] = useState<Record<string, Side>>({})
  const theirs = useMemo(() => (conflict ? docOf(conflict.theirs) : null), [conflict])
  const merged = useMemo(() => (conflict && theirs ? merge(conflict.base, conflict.mine, theirs, (path) => chosen[path] ?? 'mine') : null), [conflict, theirs, chosen])
  if (!conflict || !theirs || !merged) return null
  const both = merged.changes.filter((c) => c.by === 'both')
  const close = () => draft.setConflict(null)
  const who = conflict.by ?? 'Somebody else'
  const groups: [string, Change[]][] = [['Both of you have changed', both], [`${conflict.by ?? 'They'} changed`, merged.changes.filter((c) => c.by === 'theirs')], ['You changed', merged.changes.filter((c) => c.by === 'mine')]]
  const steps = [...conflict.mine.steps, ...theirs.steps, ...conflict.base.steps]
  return (
    <Dialog
      title={`${who} has changed this draft`} wide onClose={close}
      actions={<><button type="button" className="btn" onClick={close}>Go on editing</button><button type="button" className="btn" onClick={draft.takeTheirs}>Take theirs</button><button type="button" className="btn primary" disabled={draft.busy} onClick={() => void draft.save({ doc: merged.doc, etag: conflict.theirs.etag })}>{both.length > 0 ? 'Save as chosen' : 'Save both'}</button></>}
    >
      <p className="text-ink-2">It was saved at <Time at={conflict.theirs.updated_at} exact />, after you had opened it. {both.length > 0 ? 'Where both of you have changed the same, choose which one counts; everything else is put together.' : 'You have changed different things, so both can be kept.'} Undo brings either state back.</p>
      <div className="grid gap-4">
        {groups.filter(([, list]) => list.length > 0).map(([title, list]) => (
          <section key={title} aria-label={title} className="grid gap-2">
            <h3 className="font-medium">{title}</h3>
            <ul className="grid gap-2">
              {list.map((c) => (
                <li key={c.path} className="min-w-0 rounded-control border border-line p-2.5">
                  <div className="flex flex-wrap items-center gap-2"><span className="min-w-0 flex-1 wrap-anywhere">{nameOf(c.path, steps)}</span>{c.by === 'both' && <Segments label={`What counts for ${c.path}`} value={chosen[c.path] ?? 'mine'} onChange={(side) => setChosen({ ...chosen, [c.path]: side })} choices={[{ key: 'mine', name: 'Mine' }, { key: 'theirs', name: 'Theirs' }]} />}</div>
                  <dl className="mt-1.5 grid grid-cols-[56px_minmax(0,1fr)] gap-x-2 gap-y-1 text-xs">
                    <Line name="Before" value={c.base} />
                    {c.by !== 'theirs' && <Line name="Mine" value={c.mine} counts={c.by === 'mine' || (chosen[c.path] ?? 'mine') === 'mine'} />}
                    {c.by !== 'mine' && <Line name="Theirs" value={c.theirs} counts={c.by === 'theirs' || chosen[c.path] === 'theirs'} />}
                  </dl>
                </li>
              ))}
            </ul>
          </section>
        ))}
        {merged.changes.length === 0 && <p className="text-ink-2">Both drafts say the same.</p>}
      </div>
    </Dialog>
  )
}

function Line({ name, value, counts }: { name: string; value: unknown; counts?: boolean }) {
  return <><dt className="text-ink-3">{name}</dt><dd className={`max-h-24 min-w-0 overflow-auto whitespace-pre-wrap wrap-anywhere ${counts ? 'text-ink' : 'text-ink-2'} ${counts === false ? 'line-through' : ''}`}>{said(value)}</dd></>
}

function said(value: unknown): string {
  if (value === undefined || value === null) return 'nothing'
  if (typeof value === 'string') return value
  if (typeof value === 'object' && 'type' in value && typeof value.type === 'string') return [lookOfStep(value.type).word, settingOf(value as Step)].filter(Boolean).join(': ')
  if (Array.isArray(value) && value.every((v) => typeof v === 'string')) return value.join(', ')
  return JSON.stringify(value)
}

const words: Record<string, string> = { name: 'The name', description: 'The description', timezone: 'The time zone', order: 'The order of the steps' }

function nameOf(path: string, steps: Step[]) {
  if (words[path]) return words[path]
  const [key = '', ...field] = path.split('.')
  if (key === 'trigger') return <>Trigger: <code>{field.join('.')}</code></>
  const step = steps.find((s, i) => keyOfStep(s, i) === key)
  const name = step?.name ?? lookOfStep(step?.type ?? '').word
  return field.length === 0 ? <>The step {name} <code className="text-ink-3">{key}</code></> : <>{name} <code className="text-ink-3">{key}</code>: <code>{field.join('.')}</code></>
}
