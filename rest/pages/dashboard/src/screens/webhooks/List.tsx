import { Link, useNavigate } from '@tanstack/react-router'
import { Plus, Webhook } from 'lucide-react'
import { usePages } from '@/api/graphql'
import { useOpenParam, useSearchParams } from '@/app/searchParams'
import { useViewer } from '@/app/viewer'
import { Badge, toneText } from '@/parts/Badge'
import { DataTable, type Column } from '@/parts/DataTable'
import { EmptyState } from '@/parts/EmptyState'
import { FilterBar, termValue, parseTerms } from '@/parts/FilterBar'
import { PageHead } from '@/parts/Page'
import { formatDuration, Time } from '@/parts/Time'
import { EndpointDialog } from './EndpointDialog'
import { eventsText } from './events'
import { FailingSince } from './FailingSince'
import { isFailing, lookOfWebhook, pendingOf, rateText, rateTone, whyOff, type Figures } from './look'
import { OverTime, useFigures } from './OverTime'
import { WebhookList, type WebhookRowFragment } from './queries.gen'

const choices = [{ field: 'is', label: 'Any status', values: [{ value: 'on', name: 'Enabled' }, { value: 'off', name: 'Disabled' }] }]

function matches(w: WebhookRowFragment, q: string): boolean {
  const is = termValue(q, 'is')
  const words = parseTerms(q).filter((t) => t.field !== 'is').map((t) => t.text.toLowerCase())
  return (!is || (is === 'on') === w.enabled) && words.every((word) => w.url.toLowerCase().includes(word) || w.id === word || w.events.includes(word))
}

export default function List() {
  const [address, change] = useSearchParams()
  const { can } = useViewer()
  const navigate = useNavigate()
  const [adding, setAdding] = useOpenParam('add')
  const list = usePages(WebhookList, { first: 100 }, (d) => d.webhooks)
  const read = useFigures(null)
  const figures = new Map<string, Figures>(read.found?.endpoints.map((e) => [e.webhook.id, e.figures]))
  const q = address.q ?? ''
  const rows = q ? list.rows.filter((w) => matches(w, q)) : list.rows

  const sinceOf = (w: WebhookRowFragment) => (!w.enabled ? w.disabledAt && <Time at={w.disabledAt} /> : isFailing(figures.get(w.id)) && <FailingSince webhookId={w.id} />)

  const columns: Column<WebhookRowFragment>[] = [
    { key: 'state', head: 'Status', width: '140px', cell: (w) => { const look = lookOfWebhook(w, figures.get(w.id)); return <span title={w.enabled ? undefined : `Disabled ${whyOff(w.disabledReason)}`}><Badge tone={look.tone} icon={look.icon}>{look.word}</Badge></span> } },
    { key: 'url', head: 'URL', cell: (w) => <Link to={`/webhooks/${w.id}`} className="block truncate font-medium" title={w.url}>{w.url}</Link> },
    { key: 'events', head: 'Events', width: '160px', from: 'mid', cell: (w) => <span className="text-ink-2" title={w.events.join('\n')}>{eventsText(w.events)}</span> },
    { key: 'rate', head: `Success, ${read.choice.name}`, width: '124px', right: true, from: 'slim', cell: (w) => { const f = figures.get(w.id); return <span className={toneText[rateTone(f)]} title={f ? `${f.succeeded.toLocaleString()} of ${f.attempts.toLocaleString()} attempts succeeded. Deliveries: ${f.failed.toLocaleString()} failed, ${pendingOf(f).toLocaleString()} ${w.enabled ? 'retrying' : 'paused'}` : undefined}>{rateText(f)}</span> } },
    { key: 'p95', head: 'p95', width: '84px', right: true, from: 'slim', cell: (w) => { const l = figures.get(w.id)?.latency; return <span className="text-ink-2">{l ? formatDuration(l.p95 * 1000) : '–'}</span> } },
    { key: 'count', head: 'Deliveries', width: '92px', right: true, from: 'wide', cell: (w) => <span className="text-ink-2">{figures.get(w.id)?.deliveries.toLocaleString() ?? '–'}</span> },
    ...(rows.some((w) => sinceOf(w)) ? [{ key: 'since', head: 'Since', width: '112px', right: true, from: 'slim' as const, cell: (w: WebhookRowFragment) => <span className="text-xs text-ink-2">{sinceOf(w)}</span> }] : []),
    { key: 'at', head: 'Added', width: '112px', right: true, from: 'wide', cell: (w) => <span className="text-xs text-ink-3"><Time at={w.createdAt} /></span> },
  ]
  const add = can('WRITE') ? <button type="button" className="btn primary" onClick={() => setAdding(true)}><Plus aria-hidden />Add an endpoint</button> : undefined
  const empty = q
    ? <EmptyState icon={Webhook} title="No matches" action={<button type="button" className="btn" onClick={() => change({ q: undefined })}>Clear filter</button>}>No endpoints match this filter.</EmptyState>
    : <EmptyState icon={Webhook} title="No endpoints yet" action={add} command={{ request: { path: '/webhooks', body: { url: 'https://example.com/hooks' } }, scope: 'full' }}>Postrider posts events to your endpoint’s URL.</EmptyState>
  return (
    <>
      <PageHead title="Webhooks">{list.rows.length > 0 && add}</PageHead>
      {list.rows.length > 0 && <OverTime figures={read} />}
      <FilterBar placeholder="URL or event type" choices={choices} />
      <DataTable
        label="Webhook endpoints" rows={rows} columns={columns} idOf={(w) => w.id} nameOf={(w) => w.url} onOpen={(id) => id && void navigate({ to: `/webhooks/${id}` })}
        loading={list.isPending} error={list.error} retry={() => void list.refetch()} hasMore={list.hasNextPage} more={list.more} empty={empty}
      />
      {adding && can('WRITE') && <EndpointDialog onClose={() => setAdding(false)} made={() => { void list.refetch(); void read.refetch() }} />}
    </>
  )
}
