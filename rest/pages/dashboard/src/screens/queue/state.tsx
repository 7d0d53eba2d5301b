import { CircleDashed, Clock, Pause, Send, Timer, TrafficCone, type LucideIcon } from 'lucide-react'
import { Badge, type Tone } from '@/parts/Badge'
import type { QueueState } from './queries.gen'

const states: Record<QueueState, [Tone, LucideIcon, string]> = {
  QUEUED: ['info', Clock, 'Queued'],
  DEFERRED: ['warn', Timer, 'Deferred'],
  PARKED: ['quiet', TrafficCone, 'Waiting for capacity'],
  HELD: ['quiet', Pause, 'Held'],
}

export function StateBadge({ state, running }: { state: QueueState; running: boolean }) {
  if (running) return <Badge tone="info" icon={Send}>Being delivered</Badge>
  const [tone, icon, word] = states[state]
  return <Badge tone={tone} icon={icon}>{word}</Badge>
}

export const stateNames = Object.entries(states).map(([value, [, , name]]) => ({ value: value as QueueState, name }))

// States counts recipients by state. Zero counts are left out.
export function States({ due, running, parked, deferred, held, wrap }: { due: number; running: number; parked: number; deferred: number; held: number; wrap?: boolean }) {
  const all: [number, string, Tone, LucideIcon][] = [[deferred, 'deferred', 'warn', Timer], [held, 'held', 'quiet', Pause], [parked, 'waiting for capacity', 'quiet', TrafficCone], [due, 'due', 'info', CircleDashed], [running, 'being delivered', 'info', Send]]
  return <span className={`inline-flex gap-1 ${wrap ? 'flex-wrap' : ''}`}>{all.filter(([n]) => n > 0).map(([n, word, tone, icon]) => <Badge key={word} tone={tone} icon={icon}>{n.toLocaleString()} {word}</Badge>)}</span>
}
