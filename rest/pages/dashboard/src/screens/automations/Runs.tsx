import { Link, useNavigate } from '@tanstack/react-router'
import { Route } from 'lucide-react'
import { useRef, useState } from 'react'
import { now } from '@/api/clock'
import { keyOf, usePages } from '@/api/graphql'
import { useQueryClient } from '@tanstack/react-query'
import { unwrap, newIdempotencyKey, rest } from '@/api/rest'
import { useSearchParams } from '@/app/searchParams'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { Badge } from '@/parts/Badge'
import { ConfirmDialog } from '@/parts/ConfirmDialog'
import { DataTable, type Column } from '@/parts/DataTable'
import { EmptyState } from '@/parts/EmptyState'
import { FilterBar, termValue, parseTerms } from '@/parts/FilterBar'
import { Time } from '@/parts/Time'
import { AutomationRuns, type AutomationRunsQuery, type AutomationRunStatus } from './automations.gen'
import type { Detail } from './definition'
import { eventOf, lookOfRun } from './status'
import { useDefinition } from './definition'

type Row = NonNullable<AutomationRunsQuery['automationRuns']>['nodes'][number]

const columns: Column<Row>[] = [
  { key: 'status', head: 'Status', width: '124px', cell: (r) => { const look = lookOfRun[r.status]; return <Badge tone={r.held ? 'warn' : look.tone} icon={look.icon}>{r.held ? 'Held' : look.word}</Badge> } },
  { key: 'who', head: 'User', cell: (r) => <Link to={`/automations/runs/${r.id}` as string} className="font-medium hover:underline">{r.email ?? r.userId ?? 'no user'}</Link> },
  { key: 'why', head: 'Reason', width: '34%', from: 'wide', cell: (r) => (r.error ? <span className="text-bad" title={r.error}>{r.error}</span> : <span className="text-warn" title={r.waitingFor?.reason?.message}>{r.waitingFor?.reason?.message}</span>) },
  { key: 'version', head: 'Version', width: '80px', right: true, from: 'mid', cell: (r) => r.version },
  { key: 'next', head: 'Next step', width: '112px', right: true, from: 'mid', cell: (r) => <span className="text-ink-2">{r.endedAt ? '' : <Time at={r.nextAt} />}</span> },
  { key: 'started', head: 'Started', width: '112px', right: true, from: 'slim', cell: (r) => <span className="text-ink-2"><Time at={r.startedAt} /></span> },
]

const statuses = ['running', 'waiting', 'completed', 'failed', 'cancelled']

// Runs lists the runs of one automation. A search word is an email address, or else a user ID.
export function Runs({ automation: a }: { automation: Detail }) {
  const { can } = useViewer()
  const [address, change] = useSearchParams()
  const navigate = useNavigate()
  const client = useQueryClient()
  const definition = useDefinition(a.id)
  const [retry, setRetry] = useState(false)
  const once = useRef(newIdempotencyKey())
  const q = address.q ?? ''
  const word = parseTerms(q).find((t) => !t.field)?.value ?? ''
  const [status, version] = [termValue(q, 'status'), termValue(q, 'version')]
  const wrong = status && !statuses.includes(status) ? `status: ${statuses.join(', ')}` : version && !/^\d+$/.test(version) ? 'version: a number' : undefined
  const filter = {
    automationId: a.id, status: status && !wrong ? (status.toUpperCase() as AutomationRunStatus) : null, step: termValue(q, 'step') || null, version: version && !wrong ? Number(version) : null,
    email: termValue(q, 'email') || (word.includes('@') ? word : null), userId: termValue(q, 'user') || (word && !word.includes('@') ? word : null),
  }
  const list = usePages(AutomationRuns, { filter }, (d) => d.automationRuns ?? { nodes: [], pageInfo: { hasNextPage: false } }, { keepPrevious: true })
  async function retryFailed() {
    const { runs } = await unwrap(rest.POST('/automations/{id}/retry-failed', { params: { path: { id: a.id }, header: { 'Idempotency-Key': once.current } }, body: { since: new Date(now() - 30 * 86_400_000).toISOString(), ...(filter.step ? { step: filter.step } : {}) } }))
    once.current = newIdempotencyKey()
    toast.success(`${runs} runs resumed`)
    void client.invalidateQueries({ queryKey: keyOf(AutomationRuns) })
  }
  return (
    <div className="flex h-[70vh] min-h-[360px] flex-col">
      <FilterBar placeholder="Email address or user ID" error={wrong} hints={['status:failed', ...a.steps.slice(0, 2).map((s) => `step:${s.key}`), 'version:1', 'user:user-17']}
        choices={[{ field: 'status', label: 'Any status', values: statuses.map((value) => ({ value, name: value.charAt(0).toUpperCase() + value.slice(1) })) }, { field: 'step', label: 'Any step', values: a.steps.map((s) => ({ value: s.key, name: s.key })) }]}
      >
        {can('DEFINE') && a.stats.failed > 0 && <button type="button" className="btn" onClick={() => setRetry(true)}>Retry failed</button>}
      </FilterBar>
      <DataTable
        label="Runs" rows={list.rows} columns={columns} idOf={(r) => r.id} nameOf={(r) => r.email ?? r.userId ?? r.id} loading={list.isLoading} error={list.error} retry={() => void list.refetch()}
        more={list.more} hasMore={list.hasNextPage} onOpen={(id) => id && void navigate({ to: `/automations/runs/${id}` as string })}
        empty={q ? (
          <EmptyState icon={Route} title="No runs match" action={<button type="button" className="btn" onClick={() => change({ q: undefined })}>Clear filter</button>} />
        ) : (
          <EmptyState icon={Route} title="No runs yet" command={a.status === 'ACTIVE' ? { request: { path: '/events', body: { name: eventOf(definition.data?.trigger) || 'user.created', user_id: 'user-17', email: 'bob@example.net', data: { name: 'Bob' } } }, scope: 'sending' } : undefined}>
            {a.status === 'ACTIVE' ? 'Waiting for its trigger event. Send one from your app:' : 'Events start runs once the automation is active.'}
          </EmptyState>
        )}
      />
      {retry && <ConfirmDialog title="Retry failed runs?" label="Retry" onClose={() => setRetry(false)} run={retryFailed}>Runs that failed in the last 30 days{filter.step ? <> at <code>{filter.step}</code></> : ''} resume at the failed step. They may send email.</ConfirmDialog>}
    </div>
  )
}
