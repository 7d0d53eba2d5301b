import { useMemo, useState } from 'react'
import { Dialog } from '@/parts/Dialog'
import { Time } from '@/parts/Time'
import { Changes, plain, type Side } from '@/screens/code/Changes'
import { draftOf, translationText, type Draft, type Translation } from './draft'
import { merge, names } from './merge'
import type { Conflict, Editor } from './useEditor'

// ConflictDialog shows what another person has saved while this template was edited, and merges both.
export function ConflictDialog({ conflict, editor }: { conflict: Conflict; editor: Editor }) {
  const { theirs, base, mine, by } = conflict
  const [chosen, setChosen] = useState<Record<string, Side>>({})
  const merged = useMemo(() => merge(base, mine, draftOf(theirs), (path) => chosen[path] ?? 'mine'), [base, mine, theirs, chosen])
  const both = merged.changes.some((c) => c.by === 'both')
  const close = () => editor.setConflict(null)
  return (
    <Dialog
      title={`${by ?? 'Someone else'} changed this template`} wide onClose={close}
      actions={<><button type="button" className="btn" onClick={close}>Keep editing</button><button type="button" className="btn" onClick={editor.takeTheirs}>Use theirs</button><button type="button" className="btn primary" disabled={editor.busy} onClick={() => void editor.save(merged.draft)}>{both ? 'Save selection' : 'Save both'}</button></>}
    >
      <p className="text-ink-2">It was saved at <Time at={theirs.updatedAt} exact />, after you opened it. {both ? 'Choose a version for each conflicting change. All other changes are merged.' : 'Your changes don’t conflict, so both can be kept.'} Your changes are still in the editor.</p>
      <Changes changes={merged.changes} by={by} chosen={chosen} choose={(path, side) => setChosen({ ...chosen, [path]: side })} nameOf={(path) => names[path as keyof Draft]} said={said} />
    </Dialog>
  )
}

const isTranslations = (value: unknown): value is Translation[] => Array.isArray(value) && value.length > 0 && 'locale' in (value[0] as object)

function said(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  if (isTranslations(value)) return value.map(translationText).join('\n\n')
  if (Array.isArray(value)) return (value as Draft['variables']).map((v) => [v.key, v.type, v.required && 'required', v.fallback && `else ${v.fallback}`].filter(Boolean).join(' ')).join('\n') || 'none'
  return plain(value)
}
