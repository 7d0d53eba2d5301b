import { ArrowDownToLine, Plus } from 'lucide-react'
import { useViewer } from '@/app/viewer'
import { Menu } from '@/parts/Menu'
import type { Place } from './model/edit'
import { useScene } from './scene'
import { kinds } from './steps/kinds'

// Insert is a place for a new step, or for the step that is being moved.
export function Insert({ place, label, word }: { place: Place; label: string; word?: boolean }) {
  const { edit } = useScene()
  const { has } = useViewer()
  if (!edit) return null
  if (edit.carried) {
    if (('after' in place ? place.after : place.within) === edit.carried) return null
    return <button type="button" className="btn sm nodrag nopan !h-6 !border-accent !text-accent" onClick={() => edit.put(place)} aria-label={`Move here: ${label}`}><ArrowDownToLine aria-hidden />Move here</button>
  }
  return (
    <Menu align="start" entries={kinds.filter((k) => !k.module || has(k.module)).map((k) => ({ name: `${k.word}: ${k.about}`, icon: k.icon, run: () => edit.insert(place, k.type) }))}>
      <button type="button" data-insert className={`nodrag nopan inline-flex flex-none items-center justify-center gap-1 rounded-control border border-line bg-raised text-ink-3 hover:border-line-strong hover:text-ink aria-expanded:border-accent aria-expanded:text-accent ${word ? 'h-[26px] px-2 text-xs' : 'size-5 pointer-coarse:size-7'}`} aria-label={word ? undefined : `Add a step: ${label}`} title="Add a step">
        <Plus aria-hidden className="!size-3.5" />{word && 'Add a step'}
      </button>
    </Menu>
  )
}
