import { Ban, CircleX, Play, RotateCcw, SkipForward, type LucideIcon } from 'lucide-react'
import type { Tone } from '@/parts/Badge'

export interface Look {
  word: string
  tone: Tone
  icon: LucideIcon
  // why returns the reason as a sentence.
  why: string
}

const outcomes: Record<string, Look> = {
  started: { word: 'Started a run', tone: 'ok', icon: Play, why: 'The event started a run.' },
  resumed: { word: 'Resumed a run', tone: 'info', icon: RotateCcw, why: 'A run was waiting for it and continues.' },
  cancelled: { word: 'Cancelled a run', tone: 'warn', icon: Ban, why: 'The automation cancels runs on this event.' },
  condition_false: { word: 'Condition false', tone: 'quiet', icon: SkipForward, why: 'The event triggers the automation, but the condition was false.' },
  condition_error: { word: 'Condition has no value', tone: 'bad', icon: CircleX, why: 'The condition couldn’t be evaluated, which counts as false.' },
  re_entry: { word: 'Already had a run', tone: 'quiet', icon: SkipForward, why: 'The user already had a run, and re_entry doesn’t allow another one now.' },
  too_many_runs: { word: 'Too many runs', tone: 'bad', icon: CircleX, why: 'The account has reached its limit of runs in progress.' },
  paused: { word: 'Paused', tone: 'warn', icon: SkipForward, why: 'The automation was paused, so nothing started.' },
  loop_guard: { word: 'Loop stopped', tone: 'bad', icon: CircleX, why: 'Automations triggered each other ten times, so the chain was stopped.' },
  activated_later: { word: 'Activated later', tone: 'quiet', icon: SkipForward, why: 'The automation was activated after the event.' },
  not_kept: { word: 'Not recorded', tone: 'quiet', icon: SkipForward, why: 'Only the first 20 automations are recorded for each event.' },
}

export const lookOfMatch = (outcome: string): Look => outcomes[outcome] ?? { word: outcome, tone: 'quiet', icon: SkipForward, why: '' }

export const misses: Record<string, string> = {
  wait_of_another_person: 'A run is waiting for this event with the same address but a different user ID. Send both events with the same user_id.',
  wait_condition_false: 'A run of this user is waiting for this event, but the wait’s condition is false.',
  event_of_another_person: 'An event with this name has the same address but a different user ID.',
  name_spelled_otherwise: 'An automation uses this name with different capitalization. Names are case-sensitive.',
}

// summary describes the outcome of an event in one line.
export function summary(matches: { outcome: string }[]): { word: string; tone: Tone; icon: LucideIcon } {
  const counts = new Map<string, number>()
  for (const m of matches) counts.set(m.outcome, (counts.get(m.outcome) ?? 0) + 1)
  for (const key of ['started', 'resumed', 'cancelled']) {
    const n = counts.get(key)
    if (n) {
      const look = lookOfMatch(key)
      return { ...look, word: n === 1 ? look.word : `${look.word} ×${n}` }
    }
  }
  const first = matches[0]
  return first ? lookOfMatch(first.outcome) : { word: 'No matching automation', tone: 'quiet', icon: SkipForward }
}
