import { Archive, Ban, CircleCheck, CircleX, Hourglass, Pause, PencilLine, Play, type LucideIcon } from 'lucide-react'
import type { Tone } from '@/parts/Badge'
import type { AutomationRunStatus, AutomationStatus } from './automations.gen'

export interface Look {
  word: string
  tone: Tone
  icon: LucideIcon
}

export const lookOfAutomation: Record<AutomationStatus, Look> = {
  DRAFT: { word: 'Draft', tone: 'quiet', icon: PencilLine },
  ACTIVE: { word: 'Active', tone: 'ok', icon: Play },
  PAUSED: { word: 'Paused', tone: 'warn', icon: Pause },
  ARCHIVED: { word: 'Archived', tone: 'quiet', icon: Archive },
}

export const lookOfRun: Record<AutomationRunStatus, Look> = {
  RUNNING: { word: 'Running', tone: 'info', icon: Play },
  WAITING: { word: 'Waiting', tone: 'info', icon: Hourglass },
  COMPLETED: { word: 'Completed', tone: 'ok', icon: CircleCheck },
  FAILED: { word: 'Failed', tone: 'bad', icon: CircleX },
  CANCELLED: { word: 'Cancelled', tone: 'quiet', icon: Ban },
}

// lookOfOutcome returns the badge for the outcome of a step.
export function lookOfOutcome(status: string): Look {
  const word = status.replaceAll('_', ' ')
  const shown = word.charAt(0).toUpperCase() + word.slice(1)
  if (['failed', 'error'].includes(status)) return { word: shown, tone: 'bad', icon: CircleX }
  if (['suppressed', 'expired', 'timed_out'].includes(status)) return { word: shown, tone: 'warn', icon: Hourglass }
  if (['cancelled', 'not_started'].includes(status)) return { word: shown, tone: 'quiet', icon: Ban }
  return { word: shown, tone: 'ok', icon: CircleCheck }
}

// eventOf returns the name of the event that starts an automation.
export function eventOf(trigger: unknown): string {
  const event = typeof trigger === 'object' && trigger !== null && 'event' in trigger ? trigger.event : ''
  return typeof event === 'string' ? event : ''
}

// goalText describes a goal.
export const goalText = (goal: { event: string; withinDays: number }) => `${goal.event} within ${goal.withinDays} ${goal.withinDays === 1 ? 'day' : 'days'}`
