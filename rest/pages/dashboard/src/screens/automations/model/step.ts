// The steps of a definition as they arrive in JSON.

export interface Step {
  key?: string
  type: string
  name?: string
  [field: string]: unknown
}

export type Keyed = Step & { key: string }

export type Goal = string
export const END = '#end'
export const FAIL = '#fail'
export const isEnd = (goal: Goal) => goal === END || goal === FAIL

export const keyOfStep = (s: Step, index: number) => s.key ?? `${s.type}_${index + 1}`

// stepsOf reads the steps of a JSON definition.
export const stepsOf = (steps: unknown): Step[] => (Array.isArray(steps) ? (steps as Step[]).filter((s) => typeof s === 'object' && s !== null) : [])

export const keyed = (steps: Step[]): Keyed[] => steps.map((s, i) => (s.key ? (s as Keyed) : { ...s, key: keyOfStep(s, i) }))

export const listOf = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? (value as Record<string, unknown>[]).filter((v) => typeof v === 'object' && v !== null) : [])

// Slot is a field of a step that contains the target of a way.
export interface Slot {
  slot: string
  label: string
  short: string
  always: boolean
}

export const slot = (name: string, label = '', short = label, always = true): Slot => ({ slot: name, label, short, always })

// main is the way of `next`. It is shown only if the step has other ways.
export const main = slot('next', '', '', false)

// words returns a text, or a list of texts separated by commas.
export const words = (value: unknown): string => (Array.isArray(value) ? value.map(String).join(', ') : typeof value === 'string' ? value : '')

export const isEmpty = (value: unknown): boolean => value === undefined || value === ''
