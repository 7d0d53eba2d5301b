import { useMemo, useState } from 'react'
import { CanvasPane } from './CanvasPane'
import { traceOf, type Taken } from './model/trace'
import type { Step } from './model/ways'
import { SceneContext, type Scene } from './scene'

const nothing: Pick<Scene, 'figures' | 'troubles'> = { figures: new Map(), troubles: [] }

// Way shows the path of a run on the canvas. The list of steps next to it contains the same information, so
// small screens leave the canvas out.
export function Way({ steps, trigger, taken, at, chosen, tall }: { steps: Step[]; trigger?: unknown; taken: Taken[]; at?: { key: string; word: string } | null; chosen?: (key: string) => void; tall?: boolean }) {
  const [selected, setSelected] = useState<string | null>(null)
  const scene = useMemo((): Scene => ({
    ...nothing, ...traceOf(steps, taken, at), trigger: (trigger ?? {}) as Record<string, unknown>, steps, selected,
    select: (key) => { setSelected(key); if (key) chosen?.(key) },
  }), [steps, trigger, taken, at, selected, chosen])
  if (steps.length === 0) return null
  return <SceneContext value={scene}><div className={`${tall ? 'h-[max(26rem,calc(100dvh-20rem))]' : 'h-[26rem]'} overflow-hidden rounded-card border border-line max-md:hidden`}><CanvasPane label="Path of the run" whole /></div></SceneContext>
}
