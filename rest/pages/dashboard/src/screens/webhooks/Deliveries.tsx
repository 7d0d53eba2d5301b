import { Link } from '@tanstack/react-router'
import { Inbox, Undo2 } from 'lucide-react'
import { useEffect, useMemo, useRef } from 'react'
import { now } from '@/api/clock'
import { usePages } from '@/api/graphql'
import { useLive } from '@/api/live'
import { useSearchParams } from '@/app/searchParams'
import { Badge } from '@/parts/Badge'
import { DataTable, type Column } from '@/parts/DataTable'
import { EmptyState } from '@/parts/EmptyState'
import { SegmentedControl } from '@/parts/Tabs'
import { Time } from '@/parts/Time'
import { eventGroups } from './events'
import { lookOfDelivery } from './look'
import { WebhookDeliveryList, type WebhookDeliveryRowFragment, type WebhookDeliveryState, type WebhookRowFragment } from './queries.gen'

type Row = WebhookDeliveryRowFragment
const choices = [{ key: '', name: 'All' }, { key: 'failed', name: 'Failed' }, { key: 'pending', name: 'Pending' }, { key: 'delivered', name: 'Delivered' }] as const
type Choice = (typeof choices)[number]['key']
// spans are time ranges in hours.
const spans: Record<string, number> = { '1h': 1, '24h': 24, '7d': 168 }
const nothing = { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } }

const columnsFor = (enabled: boolean): Column<Row>[] => [
  { key: 'state', head: 'Status', width: '132px', cell: (d) => { const look = lookOfDelivery(d, enabled); return <Badge tone={look.tone} icon={look.icon}>{look.word}</Badge> } },
  { key: 'type', head: 'Event', width: '196px', grows: true, cell: (d) => <Link to="." search={((old: object) => ({ ...old, open: d.id })) as never} className="block truncate font-mono text-xs" title={d.eventType}>{d.eventType}{d.isTest && <span className="chip ml-1.5 font-sans">test</span>}</Link> },
  { key: 'about', head: 'Email', from: 'wide', cell: (d) => <span className="text-ink-2" title={[d.summary.recipient, d.summary.subject].filter(Boolean).join('\n')}><bdi>{d.summary.recipient}</bdi>{d.summary.subject && <span className="text-ink-3"> <bdi>{d.summary.subject}</bdi></span>}</span> },
  { key: 'answer', head: 'Last response', width: '200px', from: 'slim', cell: (d) => <span className={d.state === 'DELIVERED' ? 'text-ink-2' : 'text-bad'} title={d.error ?? undefined}>{d.error ?? (d.statusCode === null ? <span className="text-ink-3">none yet</span> : `HTTP ${d.statusCode}`)}</span> },
  { key: 'attempts', head: 'Attempts', width: '84px', right: true, from: 'mid', cell: (d) => <span className="text-ink-2">{d.attemptCount}{d.replays > 0 && <span className="text-ink-3" title={`Replayed ${d.replays} times`}> ↻{d.replays}</span>}</span> },
  { key: 'next', head: 'Next attempt', width: '100px', right: true, from: 'wide', cell: (d) => <span className="text-xs text-ink-3">{enabled ? <Time at={d.nextAttemptAt} /> : d.nextAttemptAt && 'paused'}</span> },
  { key: 'at', head: 'Queued', width: '104px', right: true, cell: (d) => <span className="text-xs text-ink-3"><Time at={d.createdAt} /></span> },
]

// Deliveries lists the deliveries to an endpoint; `listed` receives their ids.
export function Deliveries({ endpoint, listed, recover, test }: { endpoint: WebhookRowFragment; listed: (ids: string[]) => void; recover?: () => void; test?: () => void }) {
  const [address, change] = useSearchParams()
  const state = (choices.find((c) => c.key === address.state)?.key ?? '') as Choice
  const { event = '', since = '' } = address
  const gte = useMemo(() => (spans[since] ? new Date(Math.floor(now() / 60_000) * 60_000 - spans[since] * 3_600_000).toISOString() : null), [since])
  const filter = { state: state ? (state.toUpperCase() as WebhookDeliveryState) : null, event: event || null, createdAt: gte ? { gte } : null }
  const filtered = Boolean(state || event || gte)
  const list = usePages(WebhookDeliveryList, { webhookId: endpoint.id, first: 50, filter }, (d) => d.webhookDeliveries ?? nothing, { keepPrevious: true })
  const refetch = useRef(() => {})
  refetch.current = () => void (!list.isFetching && list.refetch())
  const moving = list.rows.some((d) => d.state === 'PENDING')
  useEffect(() => {
    if (!moving) return
    const timer = setInterval(() => refetch.current(), 3000)
    return () => clearInterval(timer)
  }, [moving])
  useLive(['email.', 'domain.', 'suppression.', 'contact.', 'automation.'], (e) => {
    if (endpoint.enabled && endpoint.events.includes(e.type)) setTimeout(() => refetch.current(), 1500)
  })
  const open = address.open
  const ids = list.rows.map((d) => d.id).join(' ')
  useEffect(() => listed(ids.split(' ')), [ids, listed])
  const empty = filtered
    ? <EmptyState icon={Inbox} title={state ? `No ${state} deliveries` : 'No deliveries match'} action={<button type="button" className="btn" onClick={() => change({ state: undefined, event: undefined, since: undefined })}>Show all</button>}>Deliveries are kept for 30 days.</EmptyState>
    : <EmptyState icon={Inbox} title="No deliveries yet" action={test && <button type="button" className="btn" onClick={test}>Send a test event</button>}>Events that the endpoint subscribes to appear here, with its responses.</EmptyState>
  return (
    <>
      <div className="flex flex-none flex-wrap items-center gap-2 border-b border-line px-4 py-2 md:px-6">
        <h2 className="mr-2 max-sm:sr-only">Deliveries</h2>
        <SegmentedControl label="Delivery status" choices={[...choices]} value={state} onChange={(key) => change({ state: key || undefined, open: undefined })} />
        <select aria-label="Event type" className="h-[34px] max-w-44 rounded-control border border-line bg-raised px-2 text-ink-2 hover:bg-hover" value={event} onChange={(e) => change({ event: e.target.value || undefined, open: undefined })}>
          <option value="">Any event</option>
          {eventGroups.map((g) => <optgroup key={g.key} label={g.title}>{g.types.map((t) => <option key={t} value={t}>{t}</option>)}</optgroup>)}
        </select>
        <select aria-label="Time" className="h-[34px] max-w-44 rounded-control border border-line bg-raised px-2 text-ink-2 hover:bg-hover" value={spans[since] ? since : ''} onChange={(e) => change({ since: e.target.value || undefined, open: undefined })}>
          <option value="">Any time</option>
          <option value="1h">Last hour</option>
          <option value="24h">Last 24 hours</option>
          <option value="7d">Last 7 days</option>
        </select>
        {recover && <button type="button" className="btn sm ml-auto" onClick={recover}><Undo2 aria-hidden />Recover…</button>}
      </div>
      <DataTable
        label="Deliveries" rows={list.rows} columns={columnsFor(endpoint.enabled)} idOf={(d) => d.id} nameOf={(d) => d.eventType} open={open} onOpen={(id) => change({ open: id ?? undefined }, !open)}
        loading={list.isPending} error={list.error} retry={() => void list.refetch()} hasMore={list.hasNextPage} more={list.more} empty={empty}
      />
    </>
  )
}
