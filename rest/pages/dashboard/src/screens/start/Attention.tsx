import { Link } from '@tanstack/react-router'
import { CircleAlert, Info, TriangleAlert } from 'lucide-react'
import { useGraphQL } from '@/api/graphql'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Card } from '@/parts/Page'
import { StartHealth, type FindingFragment } from './queries.gen'

const levels = { ERROR: { icon: CircleAlert, tone: 'text-bad', word: 'Error' }, WARNING: { icon: TriangleAlert, tone: 'text-warn', word: 'Warning' }, NOTICE: { icon: Info, tone: 'text-ink-3', word: 'Notice' } } as const

const places: [string, string][] = [['dom_', '/domains/'], ['wh_', '/webhooks/'], ['tpl_', '/templates/'], ['aut_', '/automations/']]

// Attention lists problems, each with its fix.
export function Attention() {
  const health = useGraphQL(StartHealth, {}, { refetchInterval: 60_000 })
  if (health.error) return <ErrorAlert error={health.error} title="Couldn’t load what needs attention" retry={() => void health.refetch()} />
  const { findings = [], installation = [] } = health.data?.health ?? {}
  return (
    <>
      <List title="Needs attention" findings={findings} />
      <List title="Installation" findings={(installation ?? []).filter((f) => f.level !== 'NOTICE')} />
    </>
  )
}

function List({ title, findings }: { title: string; findings: FindingFragment[] }) {
  if (findings.length === 0) return null
  return (
    <Card title={title} padded={false} actions={<span className="text-xs text-ink-3">{findings.length}</span>}>
      <ul>{findings.map((f, i) => <Finding key={`${f.code} ${f.subjectId ?? i}`} finding={f} />)}</ul>
    </Card>
  )
}

function Finding({ finding: f }: { finding: FindingFragment }) {
  const { icon: Icon, tone, word } = levels[f.level]
  const place = places.find(([prefix]) => f.subjectId?.startsWith(prefix))
  return (
    <li className="grid grid-cols-[16px_minmax(0,1fr)_auto] items-start gap-x-2.5 border-t border-line-soft px-4 py-3 first:border-t-0">
      <Icon aria-label={word} className={`mt-0.5 ${tone}`} />
      <div className="min-w-0">
        <p className="wrap-anywhere">{f.found}</p>
        {f.expected && <p className="text-xs text-ink-2 wrap-anywhere">Expected: {f.expected}</p>}
        {f.do && <p className="text-xs text-ink-2 wrap-anywhere">{f.do}</p>}
      </div>
      {place && <Link to={`${place[1]}${f.subjectId}`} className="btn sm">View</Link>}
    </li>
  )
}
