import { Ban, CircleX, Play, RotateCcw, SkipForward, type LucideIcon } from 'lucide-react'
import type { Tone } from '@/parts/Badge'

export interface Look {
  word: string
  tone: Tone
  icon: LucideIcon
  // why says it in a sentence.
  why: string
}

const outcomes: Record<string, Look> = {
  started: { word: 'Started a run', tone: 'ok', icon: Play, why: 'The event started a run.' },
  resumed: { word: 'Ended a wait', tone: 'info', icon: RotateCcw, why: 'A run waited for it and goes on.' },
  cancelled: { word: 'Cancelled a run', tone: 'warn', icon: Ban, why: 'The automation lets this event cancel runs.' },
  condition_false: { word: 'Condition not true', tone: 'quiet', icon: SkipForward, why: 'The automation listens to the event, but its condition was not true.' },
  condition_error: { word: 'Condition has no value', tone: 'bad', icon: CircleX, why: 'The condition could not be judged, which counts as not true.' },
  re_entry: { word: 'Had a run already', tone: 'quiet', icon: SkipForward, why: 'The person had a run, and re_entry allows no other now.' },
  too_many_runs: { word: 'Too many runs', tone: 'bad', icon: CircleX, why: 'The account has as many live runs as it may have.' },
  paused: { word: 'Paused', tone: 'warn', icon: SkipForward, why: 'The automation was paused, so it started nothing.' },
  loop_guard: { word: 'Stopped a loop', tone: 'bad', icon: CircleX, why: 'Automations started one another ten times, so this ended.' },
  activated_later: { word: 'Activated later', tone: 'quiet', icon: SkipForward, why: 'The automation listens only since after the event.' },
  not_kept: { word: 'Not kept', tone: 'quiet', icon: SkipForward, why: 'An event keeps what the first 20 automations did.' },
}

export const lookOfMatch = (outcome: string): Look => outcomes[outcome] ?? { word: outcome, tone: 'quiet', icon: SkipForward, why: '' }

export const misses: Record<string, string> = {
  wait_of_another_person: 'A run waits for this event and has the same address, but another user id. Send both events with the same user_id.',
  wait_condition_false: 'A run of the person waits for this event, but the condition of the wait is not true.',
  event_of_another_person: 'There is an event of this name with the same address, but another user id.',
  name_spelled_otherwise: 'An automation listens to the name in other letter case. Names must be spelled alike.',
}

// summary is what became of an event, in a line.
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
  return first ? lookOfMatch(first.outcome) : { word: 'Nothing listens', tone: 'quiet', icon: SkipForward }
}
