import { Pause, Play, RotateCw, Trash2, type LucideIcon } from 'lucide-react'
import { mutate } from '@/api/graphql'
import { QueueDrop, QueueHold, QueueRelease, QueueRetry, type QueueSelection } from './queries.gen'

export type Act = 'retry' | 'hold' | 'release' | 'drop'

interface Change {
  matched: number
  changed: number
}

interface Known {
  name: string
  icon: LucideIcon
  // description of the action in the question; done is its result.
  about: string
  done: string
  danger?: boolean
  run: (selection: QueueSelection, dryRun: boolean, reason: string) => Promise<Change>
}

export const acts: Record<Act, Known> = {
  retry: {
    name: 'Retry now', icon: RotateCw, done: 'Due now',
    about: 'Attempts delivery immediately. Held recipients stay held, and recipients already due or being delivered don’t change.',
    run: (selection, dryRun) => mutate(QueueRetry, { selection, dryRun }).then((d) => d.retryDelivery),
  },
  hold: {
    name: 'Hold', icon: Pause, done: 'Held',
    about: 'No attempts until you release them. The retry limit of 72 hours after acceptance still applies.',
    run: (selection, dryRun) => mutate(QueueHold, { selection, dryRun }).then((d) => d.holdDelivery),
  },
  release: {
    name: 'Release', icon: Play, done: 'Released',
    about: 'Recipients held by your account are due now. Recipients held by the operator stay held.',
    run: (selection, dryRun) => mutate(QueueRelease, { selection, dryRun }).then((d) => d.releaseDelivery),
  },
  drop: {
    name: 'Drop', icon: Trash2, done: 'Dropped', danger: true,
    about: 'Fails them permanently, without suppressing the addresses. A message that is being delivered right now may still arrive.',
    run: (selection, dryRun, reason) => mutate(QueueDrop, { selection, dryRun, reason }).then((d) => d.dropDelivery),
  },
}

// Target is what an action is for: one selection, or one for each destination.
export interface Target {
  selections: QueueSelection[]
  words: string
}

// sum runs an action over all selections of a target, one after another.
export async function sum(act: Act, target: Target, dryRun: boolean, reason: string, progress?: (done: number) => void): Promise<Change> {
  const total = { matched: 0, changed: 0 }
  for (const [i, selection] of target.selections.entries()) {
    const { matched, changed } = await acts[act].run(selection, dryRun, reason)
    total.matched += matched
    total.changed += changed
    progress?.(i + 1)
  }
  return total
}

export const people = (n: number) => `${n.toLocaleString()} ${n === 1 ? 'recipient' : 'recipients'}`
