import type { LucideIcon } from 'lucide-react'
import type { ComponentType } from 'react'
import { main, type Slot, type Step } from '../model/step'

// StepKind is everything the dashboard knows about one step type. Each type of the API has a file in
// this folder, named after it; `npm run codegen` lists them in kinds.gen.ts.
export interface StepKind {
  type: string
  // order is the position in the menu of new steps.
  order: number
  word: string
  icon: LucideIcon
  about: string
  // module must be on for new steps of the type.
  module?: string
  make: (hints: { from: string }) => Step
  // setting describes a step in a few words; empty if its main field is missing.
  setting: (step: Step) => string
  ways: (step: Step) => Slot[]
  // sides are optional ways of a step.
  sides: string[]
  // lacks lists what the service refuses, in addition to missing required fields.
  lacks?: (step: Step) => { field: string; message?: string }[]
  // acts marks a type that acts outside the run, so that a dry run can choose its outcome.
  acts?: boolean
  // outputs lists the output that later steps can read; values lists the possible words of its status.
  outputs: string[]
  values: string[]
  // took returns the way of a step that ended; wordOf what it decided.
  took?: (step: Step, output: Record<string, unknown>, status: string) => string
  wordOf?: (output: Record<string, unknown>) => string
  // continues adds the field for `next` to the form.
  continues?: boolean
  Form?: ComponentType
}

// withSides returns the main way and those of the sides that the step has.
const withSides = (sides: Slot[]) => (step: Step): Slot[] => [main, ...sides.filter((s) => step[s.slot])]

// defineStep fills in the common defaults of types.
export function defineStep({ sides = [], ...kind }: Omit<StepKind, 'ways' | 'sides' | 'outputs' | 'values'> & { ways?: StepKind['ways']; sides?: Slot[]; outputs?: string[]; values?: string[] }): StepKind {
  return { ways: withSides(sides), outputs: [], values: [], ...kind, sides: sides.map((s) => s.slot) }
}
