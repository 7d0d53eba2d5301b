import { createContext, useContext } from 'react'
import type { Tone } from '@/parts/Badge'
import type { Detail } from './definition'
import type { Place } from './model/edit'
import type { Trouble } from './model/problems'
import type { Step } from './model/ways'

export type Figures = Detail['steps'][number]

// Mark is what a run, or a dry run, did at a step.
export interface Mark {
  word: string
  tone: Tone
  // nth is the position of the step in the run, starting at 1.
  nth: number
}

// Editing has the actions on steps.
export interface Editing {
  insert: (place: Place, type: string) => void
  shift: (key: string, by: -1 | 1) => void
  duplicate: (key: string) => void
  remove: (key: string) => void
  // carried is the step that is being moved.
  carried: string | null
  carry: (key: string | null) => void
  put: (place: Place) => void
}

// Scene is the state that outline and canvas share.
export interface Scene {
  trigger: Record<string, unknown>
  steps: Step[]
  figures: Map<string, Figures>
  troubles: Trouble[]
  marks: Map<string, Mark>
  // taken are the ways that a run took: `key slot`.
  taken: Set<string>
  // selected is the key of a step, or `trigger`.
  selected: string | null
  select: (key: string | null) => void
  // runs links to the runs at a step.
  runs?: (key: string) => void
  edit?: Editing
}

export const SceneContext = createContext<Scene | null>(null)

export function useScene(): Scene {
  const scene = useContext(SceneContext)
  if (!scene) throw new Error('useScene requires a scene context')
  return scene
}

// figuresOf returns the nonzero figures of a step, most important first.
export function figuresOf(f: Figures): [string, number, string?][] {
  const s = f.stats
  const said: [string, number, string?][] = [['entered', s.entered], ['waiting', s.waiting, 'text-accent'], ['done', s.completed === s.entered ? 0 : s.completed], ['failed', s.failed, 'text-bad'], ['timed out', s.timedOut], ['skipped', s.skipped], ['cancelled', s.cancelled]]
  if (s.emails) {
    said.push(['delivered', s.emails.delivered], ['bounced', s.emails.bounced, 'text-bad'])
    if (s.emails.opened !== null) said.push(['opened', s.emails.opened])
    if (s.emails.clicked !== null) said.push(['clicked', s.emails.clicked])
  }
  if (s.sms) said.push(['texts delivered', s.sms.delivered], ['texts failed', s.sms.failed, 'text-bad'])
  return said.filter(([, n], i) => i === 0 || n > 0)
}

// toPanel focuses the settings once they are shown; toStep returns the focus to the outline.
export const toPanel = () => setTimeout(() => document.querySelector<HTMLElement>('[data-panel] [data-field]')?.focus(), 60)
export const toStep = (key: string) => setTimeout(() => document.querySelector<HTMLElement>(`[data-step="${key}"]`)?.focus(), 0)
