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
  // what it does, for the question; done is what it did.
  about: string
  done: string
  danger?: boolean
  run: (selection: QueueSelection, dryRun: boolean, reason: string) => Promise<Change>
}

export const acts: Record<Act, Known> = {
  retry: {
    name: 'Retry now', icon: RotateCw, done: 'Due now',
    about: 'They are tried at once. What is held stays held, and what is due already or being tried is left alone.',
    run: (selection, dryRun) => mutate(QueueRetry, { selection, dryRun }).then((d) => d.retryDelivery),
  },
  hold: {
    name: 'Hold', icon: Pause, done: 'Held',
    about: 'They are not tried until you release them. Their time goes on: retries end 72 hours after acceptance all the same.',
    run: (selection, dryRun) => mutate(QueueHold, { selection, dryRun }).then((d) => d.holdDelivery),
  },
  release: {
    name: 'Release', icon: Play, done: 'Released',
    about: 'What your account holds is due now. What the operator of this service holds stays held.',
    run: (selection, dryRun) => mutate(QueueRelease, { selection, dryRun }).then((d) => d.releaseDelivery),
  },
  drop: {
    name: 'Drop', icon: Trash2, done: 'Dropped', danger: true,
    about: 'They have failed for good, and nobody is suppressed for it. A message whose attempt is under way may arrive all the same.',
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
