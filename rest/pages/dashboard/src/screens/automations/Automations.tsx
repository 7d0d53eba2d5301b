import { Link, useNavigate } from '@tanstack/react-router'
import { Plus, Workflow } from 'lucide-react'
import { usePages } from '@/api/graphql'
import { useSearchParams } from '@/app/searchParams'
import { useViewer } from '@/app/viewer'
import { Badge } from '@/parts/Badge'
import { DataTable, type Column } from '@/parts/DataTable'
import { EmptyState } from '@/parts/EmptyState'
import { FilterBar, termValue, parseTerms } from '@/parts/FilterBar'
import { PageHead } from '@/parts/Page'
import { Time } from '@/parts/Time'
import { Automations as AutomationsDocument, type AutomationStatus, type AutomationsQuery } from './automations.gen'
import { NewAutomation } from './NewAutomation'
import { eventOf, lookOfAutomation } from './status'

type Row = AutomationsQuery['automations']['nodes'][number]

const count = (n: number, tone = '') => <span className={`tabular-nums ${n === 0 ? 'text-ink-3' : tone}`}>{n.toLocaleString()}</span>

const columns: Column<Row>[] = [
  {
    key: 'name', head: 'Name',
    cell: (a) => <Link to={`/automations/${a.id}` as string} className="font-medium hover:underline" title={a.description ?? undefined}>{a.name}</Link>,
  },
  { key: 'status', head: 'Status', width: '112px', cell: (a) => <StatusOf row={a} /> },
  { key: 'event', head: 'Trigger', width: '22%', from: 'mid', cell: (a) => <code className="text-ink-2">{eventOf(a.trigger)}</code> },
  { key: 'started', head: 'Runs', width: '76px', right: true, from: 'slim', cell: (a) => count(a.stats.started) },
  { key: 'live', head: 'In progress', width: '96px', right: true, from: 'slim', cell: (a) => count(a.stats.running + a.stats.waiting, 'text-accent') },
  { key: 'completed', head: 'Completed', width: '96px', right: true, from: 'wide', cell: (a) => count(a.stats.completed) },
  { key: 'failed', head: 'Failed', width: '76px', right: true, from: 'mid', cell: (a) => count(a.stats.failed, 'font-medium text-bad') },
  { key: 'changed', head: 'Updated', width: '116px', right: true, from: 'wide', cell: (a) => <span className="text-ink-2"><Time at={a.updatedAt} /></span> },
]

function StatusOf({ row }: { row: Row }) {
  const look = lookOfAutomation[row.status]
  return <span title={row.hasUnpublishedChanges && row.version ? 'The draft differs from the active version' : undefined}><Badge tone={look.tone} icon={look.icon}>{look.word}{row.hasUnpublishedChanges && row.version ? ' *' : ''}</Badge></span>
}

const statuses = ['draft', 'active', 'paused', 'archived']

export default function Automations() {
  const { can } = useViewer()
  const [address, change] = useSearchParams()
  const navigate = useNavigate()
  const q = address.q ?? ''
  const status = termValue(q, 'status')
  const words = parseTerms(q).filter((t) => !t.field).map((t) => t.value.replaceAll('"', '')).join(' ')
  const wrong = status && !statuses.includes(status) ? 'status: must be draft, active, paused or archived' : undefined
  const filter = { status: status && !wrong ? (status.toUpperCase() as AutomationStatus) : null, event: termValue(q, 'event') || null, query: words || null }
  const list = usePages(AutomationsDocument, { filter }, (d) => d.automations, { keepPrevious: true })
  const add = () => change({ new: '1' })
  return (
    <>
      <PageHead title="Automations">{can('DEFINE') && <button type="button" className="btn primary" onClick={add}><Plus aria-hidden />New automation</button>}</PageHead>
      <FilterBar placeholder="Name" error={wrong} hints={['status:active', 'event:user.created']} choices={[{ field: 'status', label: 'Any status', values: statuses.map((value) => ({ value, name: value.charAt(0).toUpperCase() + value.slice(1) })) }]} />
      <DataTable
        label="Automations" rows={list.rows} columns={columns} idOf={(a) => a.id} nameOf={(a) => a.name} loading={list.isLoading} error={list.error} retry={() => void list.refetch()}
        more={list.more} hasMore={list.hasNextPage} onOpen={(id) => id && void navigate({ to: `/automations/${id}` as string })}
        empty={q ? (
          <EmptyState icon={Workflow} title="No automations match" action={<button type="button" className="btn" onClick={() => change({ q: undefined })}>Clear filter</button>} />
        ) : (
          <EmptyState icon={Workflow} title="No automations yet" action={can('DEFINE') && <button type="button" className="btn primary" onClick={add}>New automation</button>} command="postrider automation push automations/">
            An automation is a sequence of steps triggered by your events, such as a sign-up or a failed payment. Start from an example here, or keep definitions in a repository.
          </EmptyState>
        )}
      />
      {address.new && can('DEFINE') && <NewAutomation onClose={() => change({ new: undefined })} />}
    </>
  )
}
