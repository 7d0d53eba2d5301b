import { CircleCheck, Gauge, Pause, Router, TrendingUp } from 'lucide-react'
import type { ReactNode } from 'react'
import { useGraphQL } from '@/api/graphql'
import { Badge } from '@/parts/Badge'
import { EmptyState } from '@/parts/EmptyState'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Card, PageBody } from '@/parts/Page'
import { SkeletonText } from '@/parts/Skeleton'
import { formatDuration, Time } from '@/parts/Time'
import { States } from '../queue/state'
import { OperatorDelivery, type OperatorDeliveryQuery } from './queries.gen'
import { Grid } from './Grid'

type Operator = NonNullable<OperatorDeliveryQuery['operator']>
type Lane = NonNullable<Operator['lanes']>[number]
type Source = NonNullable<Operator['sources']>[number]

const whole = (n: number) => Math.round(n).toLocaleString()

// Delivery shows how mail of all accounts leaves the installation: the queue, the source addresses, and how
// the receiving servers take it. It names no recipient and no account's mail.
export function Delivery() {
  const read = useGraphQL(OperatorDelivery, {}, { refetchInterval: 10_000 })
  const o = read.data?.operator
  return (
    <PageBody>
      {read.error && <ErrorAlert error={read.error} retry={() => void read.refetch()} />}
      {read.isPending && <SkeletonText lines={8} />}
      {o && (
        <>
          {o.queueByDestination && <Card title="Queue by destination" padded={false}><Queue rows={o.queueByDestination} /></Card>}
          {o.sources && <Card title="Sources" padded={false}><Sources rows={o.sources} /></Card>}
          {o.lanes && <Card title="Lanes" padded={false} footer="From the process that responded. Each process has its own lanes."><Lanes rows={o.lanes} /></Card>}
        </>
      )}
    </PageBody>
  )
}

const none = (icon: typeof Gauge, title: string, words: ReactNode) => <EmptyState icon={icon} title={title}>{words}</EmptyState>

function Queue({ rows }: { rows: Operator['queueByDestination'] }) {
  if (rows.length === 0) return none(CircleCheck, 'The queue is empty', 'All emails have been delivered or have failed.')
  return (
    <Grid label="Queue by destination" heads={['Destination', 'Queued', 'Oldest', 'Status', 'Reason']} right={[1, 2]}>
      {rows.map((r) => [
        <b key="d" className="font-medium">{r.destination}</b>, whole(r.total), formatDuration(r.oldestAgeSeconds * 1000), <States key="s" {...r} wrap />,
        <code key="r" className="text-xs text-ink-2 wrap-anywhere">{r.diagnostic ?? 'not attempted yet'}</code>,
      ])}
    </Grid>
  )
}

function Sources({ rows }: { rows: Source[] }) {
  if (rows.length === 0) return none(Router, 'No sending sources', <>Mail is sent from the machine’s own address. <code>postrider admin source add</code> adds addresses, with warm-up.</>)
  return (
    <Grid label="Sources" heads={['Address', 'Name', 'Process', 'Pool', 'Status', 'Warm-up']}>
      {rows.map((s) => [
        <code key="a">{s.address}</code>, <span key="h" className="wrap-anywhere">{s.hostname}</span>,
        s.node ? <code key="n">{s.node}</code> : <span key="n" className="text-ink-3">any</span>, <span key="p">{s.pool}{s.accountId && <code className="ml-1 text-xs text-ink-3">{s.accountId}</code>}</span>,
        s.pausedAt ? <span key="s" className="inline-flex flex-wrap items-center gap-1.5"><Badge tone="warn" icon={Pause}>Paused</Badge><Time at={s.pausedAt} /></span> : <Badge key="s" tone="ok" icon={CircleCheck}>Active</Badge>,
        s.warmup ? <WarmUp key="w" {...s.warmup} /> : <span key="w" className="text-ink-3">none</span>,
      ])}
    </Grid>
  )
}

function WarmUp({ day, limit, used }: { day: number; limit: number; used: number }) {
  return (
    <span className="grid min-w-36 gap-1">
      <span className="inline-flex items-center gap-1.5"><TrendingUp aria-hidden className="!size-3.5 text-ink-3" />Day {day}: {whole(used)} of {whole(limit)}</span>
      <progress aria-label={`Usage on day ${day}`} value={Math.min(used, limit)} max={Math.max(limit, 1)} className="h-1.5 w-full accent-accent-fill" />
    </span>
  )
}

function Lanes({ rows }: { rows: Lane[] }) {
  if (rows.length === 0) return none(Gauge, 'No open lanes', 'A lane opens with the first email to a provider, and closes when none are left.')
  return (
    <Grid label="Lanes" heads={['Provider', 'Status', 'Active', 'Per minute', 'Accepted', 'Rejected', 'Throttled', 'Unreachable', 'Last']} right={[2, 3, 4, 5, 6, 7, 8]}>
      {rows.map((l) => [
        <span key="n" className="min-w-0"><b className="block font-medium wrap-break-word">{l.provider ?? l.name}</b><span className="text-xs text-ink-3 wrap-break-word">{[l.provider && l.name, l.way && `via ${l.way}`].filter(Boolean).join(', ')}</span></span>,
        l.pausedUntil ? <span key="s" className="grid gap-1"><span className="inline-flex flex-wrap items-center gap-1.5"><Badge tone="warn" icon={Pause}>Paused</Badge><Time at={l.pausedUntil} /></span>{l.reason && <code className="text-xs text-ink-2 wrap-anywhere">{l.reason}</code>}</span> : <Badge key="s" tone="ok" icon={CircleCheck}>Open</Badge>,
        `${whole(l.active)} of ${whole(l.window)}`, l.perMinute === null ? 'no limit' : whole(l.perMinute), whole(l.delivered), whole(l.refused), whole(l.throttled), whole(l.unreachable), <Time key="t" at={l.usedAt} />,
      ])}
    </Grid>
  )
}
