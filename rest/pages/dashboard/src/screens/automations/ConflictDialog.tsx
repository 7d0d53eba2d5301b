import { useMemo, useState } from 'react'
import { Dialog } from '@/parts/Dialog'
import { Time } from '@/parts/Time'
import { Changes, plain, type Side } from '@/screens/code/Changes'
import { docOf } from './definition'
import { merge } from './model/merge'
import { settingOf } from './model/summary'
import { keyOfStep, type Step } from './model/ways'
import { lookOfStep } from './steps/kinds'
import type { Draft } from './useDraft'

// ConflictDialog shows what another person has saved while this draft was edited, and merges both. Nothing is
// lost: undo restores each state.
export function ConflictDialog({ draft }: { draft: Draft }) {
  const { conflict } = draft
  const [chosen, setChosen] = useState<Record<string, Side>>({})
  const theirs = useMemo(() => (conflict ? docOf(conflict.theirs) : null), [conflict])
  const merged = useMemo(() => (conflict && theirs ? merge(conflict.base, conflict.mine, theirs, (path) => chosen[path] ?? 'mine') : null), [conflict, theirs, chosen])
  if (!conflict || !theirs || !merged) return null
  const both = merged.changes.filter((c) => c.by === 'both')
  const close = () => draft.setConflict(null)
  const who = conflict.by ?? 'Someone else'
  const steps = [...conflict.mine.steps, ...theirs.steps, ...conflict.base.steps]
  return (
    <Dialog
      title={`${who} changed this draft`} wide onClose={close}
      actions={<><button type="button" className="btn" onClick={close}>Keep editing</button><button type="button" className="btn" onClick={draft.takeTheirs}>Use theirs</button><button type="button" className="btn primary" disabled={draft.busy} onClick={() => void draft.save({ doc: merged.doc, etag: conflict.theirs.etag })}>{both.length > 0 ? 'Save selection' : 'Save both'}</button></>}
    >
      <p className="text-ink-2">It was saved at <Time at={conflict.theirs.updated_at} exact />, after you opened it. {both.length > 0 ? 'Choose a version for each conflicting change. All other changes are merged.' : 'Your changes don’t conflict, so both can be kept.'} Undo restores either state.</p>
      <Changes changes={merged.changes} by={conflict.by} chosen={chosen} choose={(path, side) => setChosen({ ...chosen, [path]: side })} nameOf={(path) => nameOf(path, steps)} said={said} />
    </Dialog>
  )
}

function said(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string') return [lookOfStep(value.type).word, settingOf(value as Step)].filter(Boolean).join(': ')
  return plain(value)
}

const words: Record<string, string> = { name: 'Name', description: 'Description', timezone: 'Time zone', goal: 'Goal', order: 'Order of steps' }

function nameOf(path: string, steps: Step[]) {
  if (words[path]) return words[path]
  const [key = '', ...field] = path.split('.')
  if (key === 'trigger') return <>Trigger: <code>{field.join('.')}</code></>
  const step = steps.find((s, i) => keyOfStep(s, i) === key)
  const name = step?.name ?? lookOfStep(step?.type ?? '').word
  return field.length === 0 ? <>Step {name} <code className="text-ink-3">{key}</code></> : <>{name} <code className="text-ink-3">{key}</code>: <code>{field.join('.')}</code></>
}
