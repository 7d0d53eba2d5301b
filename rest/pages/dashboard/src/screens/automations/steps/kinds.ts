import { Code, type LucideIcon } from 'lucide-react'
import { slot } from '../model/step'
import { defineStep, type StepKind } from './kind'
import { stepKinds } from './kinds.gen'

// kinds are the step types in the order of the menu.
export const kinds: StepKind[] = Object.values(stepKinds).sort((a, b) => a.order - b.order)

const byType = new Map(kinds.map((k) => [k.type, k]))

// other is a type that only a newer server supports.
const other = defineStep({ type: '', order: 0, word: '', icon: Code, about: '', make: () => ({ type: '' }), setting: () => '', sides: [slot('on_suppressed', 'If the recipient is suppressed', 'suppressed'), slot('on_error', 'If it’s rejected', 'refused')] })

export const kindOf = (type: string): StepKind => byType.get(type) ?? { ...other, sides: [] }

export const lookOfStep = (type: string): { word: string; icon: LucideIcon } => byType.get(type) ?? { word: type, icon: Code }
