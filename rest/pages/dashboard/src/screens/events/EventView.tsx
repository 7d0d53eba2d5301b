import { Link } from '@tanstack/react-router'
import { useGraphQL } from '@/api/graphql'
import { useViewer } from '@/app/viewer'
import { AddressLink } from '@/parts/AddressLink'
import { Badge } from '@/parts/Badge'
import { CodeBlock } from '@/parts/CodeBlock'
import { CopyableId } from '@/parts/CopyButton'
import { EmptyState } from '@/parts/EmptyState'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Detail, DetailList } from '@/parts/Page'
import { SkeletonText } from '@/parts/Skeleton'
import { Time } from '@/parts/Time'
import { Conditions } from '@/screens/automations/Conditions'
import { Zap } from 'lucide-react'
import { CustomEventDetail, EventAutomations, type CustomEventDetailQuery } from './events.gen'
import { lookOfMatch, misses } from './outcomes'

type Event = NonNullable<CustomEventDetailQuery['customEvent']>
type Match = Event['explanation']['matches'][number]
type Miss = Event['explanation']['nearMisses'][number]

const sources = { API: 'from the API', DASHBOARD: 'from the dashboard', SYSTEM: 'from Postrider' }

// EventView shows an event and its effects on automations, with the reasons.
export function EventView({ id }: { id: string }) {
  const read = useGraphQL(CustomEventDetail, { id })
  const e = read.data?.customEvent
  if (read.error && !e) return <ErrorAlert error={read.error} retry={() => void read.refetch()} />
  if (read.isLoading) return <SkeletonText />
  if (!e) return <EmptyState icon={Zap} title="Event not found">It was deleted after the retention period, or it belongs to another account.</EmptyState>
  const { matches, nearMisses } = e.explanation
  return (
    <div className="grid gap-5">
      <DetailList>
        <Detail name="ID"><CopyableId id={e.id} /></Detail>
        <Detail name="User ID">{e.userId}</Detail>
        <Detail name="Email">{e.email && <AddressLink address={e.email} />}</Detail>
        <Detail name="Received">{sources[e.source]}, <Time at={e.createdAt} exact /></Detail>
      </DetailList>
      <section className="grid gap-2">
        <h2>Automations</h2>
        {matches.length === 0 && <NoMatch name={e.name} />}
        <ul className="grid gap-2">{matches.map((m, i) => <MatchItem key={i} match={m} />)}</ul>
      </section>
      {nearMisses.length > 0 && (
        <section className="grid gap-2">
          <h2>Near misses</h2>
          <ul className="grid gap-2">{nearMisses.map((m, i) => <MissItem key={i} miss={m} />)}</ul>
        </section>
      )}
      {e.data === null ? <p className="text-ink-2">No data.</p> : <CodeBlock title="Data" text={JSON.stringify(e.data, null, 2)} wrap />}
    </div>
  )
}

function MatchItem({ match: m }: { match: Match }) {
  const look = lookOfMatch(m.outcome)
  return (
    <li className="grid min-w-0 gap-2 rounded-card border border-line p-3">
      <div className="flex flex-wrap items-center gap-2">
        <Link className="min-w-0 font-medium wrap-anywhere hover:underline" to={`/automations/${m.automationId}` as string}>{m.automationName ?? 'Deleted automation'}</Link>
        <span className="text-xs text-ink-3">v{m.version}</span>
        <Badge tone={look.tone} icon={look.icon}>{look.word}</Badge>
        {m.runId && <Link className="link ml-auto" to={`/automations/runs/${m.runId}` as string}>View run</Link>}
      </div>
      <p className="text-ink-2">{look.why}{m.stepKey && <> Step: <code>{m.stepKey}</code>.</>}</p>
      {m.error && <p className="smtp bad">{m.error}</p>}
      {m.conditions.length > 0 && <Conditions list={m.conditions} />}
    </li>
  )
}

function MissItem({ miss: m }: { miss: Miss }) {
  return (
    <li className="grid min-w-0 gap-2 rounded-card border border-line p-3 wrap-anywhere">
      <p>{misses[m.kind] ?? m.kind}</p>
      <p className="flex flex-wrap gap-x-3 gap-y-1 text-ink-2">
        <span>Name <code>{m.name}</code></span>
        {m.stepKey && <span>Step <code>{m.stepKey}</code></span>}
        {m.automationId && <Link className="link" to={`/automations/${m.automationId}` as string}>View automation</Link>}
        {m.runId && <Link className="link" to={`/automations/runs/${m.runId}` as string}>View run</Link>}
        {m.eventId && <Link className="link" to={`/events/${m.eventId}` as string}>View other event</Link>}
      </p>
      {m.condition && <Conditions list={[m.condition]} />}
    </li>
  )
}

// NoMatch lists the names that automations listen to, because the cause is usually a misspelling.
function NoMatch({ name }: { name: string }) {
  const { can } = useViewer()
  const read = useGraphQL(EventAutomations, {}, { enabled: can('READ') })
  const names = [...new Set(read.data?.automations.nodes.filter((a) => a.status === 'ACTIVE').map((a) => (a.trigger as { event?: string } | null)?.event).filter((n) => n !== undefined))].slice(0, 12)
  return (
    <div className="grid gap-1 rounded-card border border-line p-3 wrap-anywhere">
      <p>No active automation is triggered by <code>{name}</code>, and no run was waiting for it.</p>
      {names.length > 0 && <p className="text-ink-2">Active automations are triggered by {names.map((n, i) => <span key={n}>{i > 0 && ', '}<code>{n}</code></span>)}.</p>}
      {read.data && names.length === 0 && <p className="text-ink-2">No automations are active. <Link className="link" to={'/automations' as string}>View automations</Link></p>}
    </div>
  )
}
