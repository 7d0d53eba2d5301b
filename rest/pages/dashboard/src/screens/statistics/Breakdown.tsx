import { useGraphQL } from '@/api/graphql'
import { useSearchParams } from '@/app/searchParams'
import { useViewer } from '@/app/viewer'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Card } from '@/parts/Page'
import { SkeletonText } from '@/parts/Skeleton'
import { MailGroups, type MailGroupsQueryVariables } from './queries.gen'
import { dimensions, emailsOf, goTogether, searchTerm, type Choice } from './range'
import { FiguresTable, type TableRow } from './Table'

const modules: Record<string, string> = { DOMAIN: 'domains', TEMPLATE: 'templates', AUTOMATION: 'automations' }
const without: Record<string, string> = { TAG: 'No tag', API_KEY: 'No API key', TEMPLATE: 'No template', AUTOMATION: 'No automation', DOMAIN: 'No domain', RECIPIENT_DOMAIN: 'Several domains', BOUNCE_CLASS: 'No class' }

// Breakdown shows the figures by group.
export function Breakdown({ choice, variables }: { choice: Choice; variables: Omit<MailGroupsQueryVariables, 'groupBy'> }) {
  const [, change] = useSearchParams()
  const { has } = useViewer()
  const list = useGraphQL(MailGroups, { ...variables, groupBy: choice.group }, { keepPrevious: true })
  const found = list.data?.emailStatistics
  const rows: TableRow[] = (found?.groups ?? []).map((g) => {
    const only = { dimension: choice.group, key: g.key, name: g.label }
    const term = g.key ? searchTerm(only) : undefined
    return {
      key: g.key, figures: g.totals,
      name: g.key ? <button type="button" className="link" title={`Filter by ${g.label || g.key}`} onClick={() => change({ only: `${choice.group}:${g.key}`, called: g.label !== g.key ? g.label : undefined }, true)}>{g.label || g.key}</button> : <span className="text-ink-3">{without[choice.group]}</span>,
      search: term === undefined ? undefined : emailsOf({ ...choice, only }, choice.gte, choice.lt),
    }
  })
  if (found?.other) rows.push({ key: 'other', name: <span className="text-ink-3">All others</span>, figures: found.other.totals })
  return (
    <Card
      title="Breakdown" padded={false}
      actions={(
        <select aria-label="Break down by" value={choice.group} onChange={(e) => change({ group: e.target.value })} className="h-[30px] rounded-control border border-line bg-raised px-2 text-ink-2 hover:bg-hover">
          {dimensions.filter((d) => has(modules[d.key] ?? 'statistics')).map((d) => <option key={d.key} value={d.key} disabled={!goTogether(d.key, choice.only?.dimension)}>By {d.name === 'API key' ? d.name : d.name.toLowerCase()}</option>)}
        </select>
      )}
    >
      {list.error && !found ? <div className="p-4"><ErrorAlert error={list.error} retry={() => void list.refetch()} /></div>
        : !found ? <div className="p-4"><SkeletonText /></div>
          : rows.length === 0 ? <p className="p-4 text-ink-3">No emails in this range.</p>
            : <FiguresTable label="Figures by group" first={dimensions.find((d) => d.key === choice.group)?.name ?? ''} rows={rows} />}
    </Card>
  )
}
