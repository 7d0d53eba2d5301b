import { Link } from '@tanstack/react-router'
import { CircleAlert, Info, TriangleAlert } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { now } from '@/api/clock'
import { useGraphQL } from '@/api/graphql'
import { useViewer } from '@/app/viewer'
import { CopyButton } from '@/parts/CopyButton'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Card } from '@/parts/Page'
import { limits, percent } from '../statistics/figures'
import { FailingNote } from '../webhooks/FailingSince'
import { isFailing, rateText } from '../webhooks/look'
import { StartEndpoints, StartFailedRuns, StartHealth, type FindingFragment } from './queries.gen'
import type { StartFiguresQuery } from './queries.gen'

const levels = { ERROR: { icon: CircleAlert, tone: 'text-bad', word: 'Error' }, WARNING: { icon: TriangleAlert, tone: 'text-warn', word: 'Warning' }, NOTICE: { icon: Info, tone: 'text-ink-3', word: 'Notice' } } as const

const places: [string, string][] = [['dom_', '/domains/'], ['wh_', '/webhooks/'], ['tpl_', '/templates/'], ['aut_', '/automations/']]

interface Problem {
  key: string
  level: keyof typeof levels
  title: string
  about?: ReactNode
  to?: string
  search?: Record<string, string>
}

export type Totals = StartFiguresQuery['emailStatistics']['totals']

// rateProblems reports the rates of the last 24 hours that exceed a limit. Small samples are ignored.
export function rateProblems(t: Totals | undefined): Problem[] {
  if (!t) return []
  const out: Problem[] = []
  const bounced = t.bounced / t.recipients
  if (t.recipients >= 20 && bounced >= limits.bounce[0]) out.push({ key: 'bounces', level: 'ERROR', title: `${percent(bounced)} of recipients bounced in the last 24 hours`, about: 'More than 5 % hurts your reputation. Remove addresses that don’t exist.', to: '/emails', search: { q: 'is:bounced' } })
  const complained = t.complained / t.delivered
  if (t.delivered >= 200 && complained >= limits.complaint[1]) out.push({ key: 'complaints', level: 'ERROR', title: `${percent(complained)} of delivered emails were reported as spam in the last 24 hours`, about: 'Gmail and Yahoo block senders above 0.3 %.', to: '/statistics' })
  return out
}

// Attention lists what needs a decision now, before anything else on the page.
export function Attention({ totals }: { totals: Totals | undefined }) {
  const { has } = useViewer()
  const [since] = useState(() => new Date(now() - 86_400_000).toISOString())
  const health = useGraphQL(StartHealth, {}, { refetchInterval: 60_000 })
  const endpoints = useGraphQL(StartEndpoints, { gte: since, lt: new Date(Date.parse(since) + 2 * 86_400_000).toISOString() }, { enabled: has('webhooks'), refetchInterval: 60_000 })
  const runs = useGraphQL(StartFailedRuns, { gte: since }, { enabled: has('automations'), refetchInterval: 60_000 })
  if (health.error) return <ErrorAlert error={health.error} title="Couldn’t load what needs attention" retry={() => void health.refetch()} />
  const found = (health.data?.health.findings ?? []).filter((f) => f.level !== 'NOTICE')
  const failing = (endpoints.data?.webhookStatistics.endpoints ?? []).filter((e) => e.webhook.enabled && isFailing(e.figures))
  const failed = runs.data?.automationRuns
  const problems: Problem[] = [
    ...rateProblems(totals),
    ...found.map((f, i) => ({ key: `${f.code} ${f.subjectId ?? i}`, level: f.level, title: f.found, about: f.do, ...placeOf(f) })),
    ...failing.map((e) => ({ key: e.webhook.id, level: 'WARNING' as const, title: `${e.webhook.url} is failing`, about: <>{rateText(e.figures)} of {e.figures.attempts.toLocaleString()} attempts succeeded in the last 24 hours. <FailingNote webhookId={e.webhook.id} /></>, to: `/webhooks/${e.webhook.id}` })),
    ...(failed?.nodes[0] ? [{ key: 'runs', level: 'WARNING' as const, title: `${failed.count.value === 1 ? '1 automation run' : `${failed.count.value.toLocaleString()} automation runs`} failed in the last 24 hours`, about: failed.nodes[0].error ?? undefined, to: `/automations/runs/${failed.nodes[0].id}` }] : []),
  ]
  if (problems.length === 0) return null
  return (
    <Card title="Needs attention" padded={false} actions={<span className="text-xs text-ink-3">{problems.length}</span>}>
      <ul>
        {problems.map(({ key, level, title, about, to, search }) => {
          const { icon: Icon, tone, word } = levels[level]
          return (
            <li key={key} className="grid grid-cols-[16px_minmax(0,1fr)_auto] items-start gap-x-2.5 border-t border-line-soft px-4 py-3 first:border-t-0">
              <Icon aria-label={word} className={`mt-0.5 ${tone}`} />
              <div className="min-w-0"><p className="font-medium wrap-anywhere">{title}</p>{about && <p className="text-xs text-ink-2 wrap-anywhere">{about}</p>}</div>
              {to && <Link to={to} search={search as never} className="btn sm">View</Link>}
            </li>
          )
        })}
      </ul>
    </Card>
  )
}

function placeOf(f: FindingFragment): { to?: string } {
  const place = places.find(([prefix]) => f.subjectId?.startsWith(prefix))
  return place ? { to: `${place[1]}${f.subjectId}` } : f.code === 'queue.old' ? { to: '/queue' } : f.code.startsWith('account.') ? { to: '/settings/billing' } : {}
}

// groups are the checks of the installation, by the first part of their name.
const groups: Record<string, string> = { dns: 'DNS', smtp: 'SMTP', http: 'HTTP', database: 'database' }

const titles: Record<string, string> = { 'dns.ptr': 'Reverse DNS', 'dns.spf': 'SPF', 'dns.dkim': 'DKIM', 'dns.dmarc': 'DMARC', 'dns.return_path_mx': 'Return path MX', 'http.base_url': 'Base URL', 'http.certificate': 'HTTPS certificate', 'smtp.outward': 'Outgoing SMTP (port 25)', 'smtp.inward': 'Incoming SMTP', 'smtp.certificate': 'SMTP certificate' }

const titleOf = (code: string) => titles[code] ?? code.replace(/^dns\./, '').replaceAll(/[._]/g, ' ').replace(/^./, (c) => c.toUpperCase())

// Installation folds the findings of postrider doctor into one card, for operators.
export function Installation() {
  const health = useGraphQL(StartHealth, {}, { refetchInterval: 60_000 })
  const findings = (health.data?.health.installation ?? []).filter((f) => f.level !== 'NOTICE')
  if (findings.length === 0) return null
  const kinds = [...new Set(findings.map((f) => groups[f.code.split('.', 1)[0] ?? ''] ?? 'other'))]
  const kind = kinds.length === 1 && kinds[0] !== 'other' ? `${kinds[0]} ` : ''
  const errors = findings.filter((f) => f.level === 'ERROR').length
  return (
    <details className="card group">
      <summary className="flex min-h-11 cursor-pointer flex-wrap items-center gap-2 px-4 py-1.5">
        <TriangleAlert aria-hidden className={errors > 0 ? 'text-bad' : 'text-warn'} />
        <span className="font-semibold">{findings.length} {kind}{findings.length === 1 ? 'finding' : 'findings'}</span>
        <span className="text-xs text-ink-3">about this installation{errors > 0 && `, ${errors} ${errors === 1 ? 'error' : 'errors'}`}</span>
        <span className="btn sm ml-auto"><span className="group-open:hidden">Show</span><span className="hidden group-open:inline">Hide</span></span>
      </summary>
      <ul className="border-t border-line">
        {findings.map((f, i) => {
          const { icon: Icon, tone, word } = levels[f.level]
          return (
            <li key={`${f.code} ${i}`} className="grid grid-cols-[16px_minmax(0,1fr)] items-start gap-x-2.5 border-t border-line-soft px-4 py-3 first:border-t-0">
              <Icon aria-label={word} className={`mt-0.5 ${tone}`} />
              <div className="grid min-w-0 gap-0.5">
                <h3 className="font-medium">{titleOf(f.code)} <code className="text-xs font-normal text-ink-3">{f.code}</code></h3>
                <p className="text-ink-2 wrap-anywhere">{f.found}</p>
                {f.expected && <p className="flex items-start gap-1 text-xs text-ink-2"><span className="flex-none">Expected:</span><span className="min-w-0 wrap-anywhere">{f.expected}</span><CopyButton text={f.expected} label={`Copy expected value of ${titleOf(f.code)}`} className="-my-1" /></p>}
                {f.do && <p className="text-xs text-ink-2 wrap-anywhere">{f.do}</p>}
              </div>
            </li>
          )
        })}
      </ul>
    </details>
  )
}
