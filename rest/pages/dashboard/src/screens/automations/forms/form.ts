import { createContext, useContext } from 'react'
import type { Goal, Step } from '../model/step'
import type { Hints } from '../useHints'

// Lead is the target of a way of the step, with the possible targets.
export interface Lead {
  goal: Goal
  // goes is the step after this one.
  goes?: Goal
  side: boolean
  choices: { key: string; name: string }[]
}

// StepForm is what the fields of one step, or of the trigger, read and write.
export interface StepForm {
  at: string
  value: Record<string, unknown>
  steps: Step[]
  hints: Hints
  readOnly: boolean
  get: (field: string) => unknown
  // set writes a field; empty values are omitted.
  set: (field: string, value: unknown) => void
  // put writes several fields.
  put: (value: Record<string, unknown>) => void
  wrong: (field: string) => string | undefined
  // outcomes name what earlier steps leave to be read; valuesOf are the words that one of them can have.
  outcomes: string[]
  valuesOf: (path: string) => string[]
  leadOf: (slot: string) => Lead
  // aim lets a way of the step lead to a goal.
  aim: (slot: string, goal: Goal) => void
  addCase: () => void
  dropOne: (list: 'cases' | 'variants', index: number) => void
  rename: (key: string) => void
}

export const StepFormContext = createContext<StepForm | null>(null)

export function useStepForm(): StepForm {
  const form = useContext(StepFormContext)
  if (!form) throw new Error('useStepForm requires a form context')
  return form
}

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '')
