import { Link, useParams } from '@tanstack/react-router'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Ban, Hourglass, Mail, Octagon, Play, RotateCw, Route, Zap, type LucideIcon } from 'lucide-react'
import { useMemo, useRef, useState } from 'react'
import { keyOf, useGraphQL } from '@/api/graphql'
import { unwrap, newIdempotencyKey, rest } from '@/api/rest'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { Badge, type Tone } from '@/parts/Badge'
import { CodeBlock } from '@/parts/CodeBlock'
import { AddressLink } from '@/parts/AddressLink'
import { ConfirmDialog } from '@/parts/ConfirmDialog'
import { CopyableId } from '@/parts/CopyButton'
import { EmptyState } from '@/parts/EmptyState'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Card, Detail, DetailList, PageBody, PageHead } from '@/parts/Page'
import { SkeletonRows } from '@/parts/Skeleton'
import { Time } from '@/parts/Time'
import { TimelineEntry, Timeline } from '@/parts/Timeline'
import { AutomationDetail, AutomationName, AutomationRunDetail, AutomationRuns, type AutomationRunDetailQuery } from './automations.gen'
import { keyOfStep, stepsOf } from './model/ways'
import { Way } from './Way'
import { lookOfOutcome, lookOfRun } from './status'
import { lookOfStep } from './steps/kinds'

// endedByAccount are the reasons to wait that end with a change of the account.
const endedByAccount = new Set(['plan_limit', 'account_suspended'])

type Run = NonNullable<AutomationRunDetailQuery['automationRun']>
type Entry = Run['timeline'][number]

export default function RunPage() {
  const { run: id } = useParams({ strict: false }) as { run: string }
  const read = useGraphQL(AutomationRunDetail, { id }, { refetchInterval: 10_000 })
  const run = read.data?.automationRun
  const name = useGraphQL(AutomationName, { id: run?.automationId ?? '' }, { enabled: run !== undefined && run !== null })
  const automation = name.data?.automation
  const up = run && automation ? { to: `/automations/${run.automationId}`, name: automation.name } : { to: '/automations', name: 'Automations' }
  if (run) return <Loaded run={run} up={up} />
  return (
    <>
      <PageHead up={up} title={read.isLoading ? '' : 'Run'} />
      {read.isLoading && <SkeletonRows rows={6} />}
      {read.error && <div className="p-4 md:p-6"><ErrorAlert error={read.error} retry={() => void read.refetch()} /></div>}
      {read.data && <EmptyState icon={Route} title="Run not found" action={<Link className="btn" to={'/automations' as string}>All automations</Link>}>It was deleted after the retention period, or it belongs to another account.</EmptyState>}
    </>
  )
}

function Loaded({ run: r, up }: { run: Run; up: { to: string; name: string } }) {
  const { can } = useViewer()
  const client = useQueryClient()
  const [asks, setAsks] = useState<'cancel' | 'retry' | null>(null)
  const once = useRef(newIdempotencyKey())
  const look = lookOfRun[r.status]
  const live = r.status === 'RUNNING' || r.status === 'WAITING'
  async function act(what: 'cancel' | 'retry') {
    const params = { path: { id: r.id }, header: { 'Idempotency-Key': once.current } }
    if (what === 'cancel') await unwrap(rest.POST('/automation-runs/{id}/cancel', { params }))
    else await unwrap(rest.POST('/automation-runs/{id}/retry', { params }))
    once.current = newIdempotencyKey()
    toast.success(what === 'cancel' ? 'Run cancelled' : 'Run resumed')
    for (const d of [AutomationRunDetail, AutomationRuns, AutomationDetail]) void client.invalidateQueries({ queryKey: [keyOf(d)[0]] })
  }
  const newest = [...r.timeline].reverse()
  const version = useQuery({
    queryKey: ['automation version', r.automationId, r.version], staleTime: Infinity, retry: false,
    queryFn: () => unwrap(rest.GET('/automations/{id}/versions/{number}', { params: { path: { id: r.automationId, number: r.version } } })).then((v) => v.version),
  })
  const definition = version.data?.definition as { trigger?: unknown; steps?: unknown } | undefined
  const steps = useMemo(() => stepsOf(definition?.steps), [definition])
  const taken = useMemo(() => r.steps.map((s) => ({ key: s.key, status: s.status, output: s.output as Record<string, unknown> | null, error: s.error })), [r.steps])
  const now = live ? steps[r.stepIndex] : undefined
  const at = useMemo(() => (now ? { key: keyOfStep(now, r.stepIndex), word: r.status === 'WAITING' ? 'Waiting here' : 'Next' } : null), [now, r.stepIndex, r.status])
  return (
    <>
      <PageHead up={up} title={r.email ?? r.userId ?? 'Run'}>
        {can('WRITE') && live && <button type="button" className="btn" onClick={() => setAsks('cancel')}><Ban aria-hidden />Cancel</button>}
        {can('WRITE') && r.status === 'FAILED' && <button type="button" className="btn primary" onClick={() => setAsks('retry')}><RotateCw aria-hidden />Retry</button>}
      </PageHead>
      <PageBody>
        <div className="grid min-w-0 content-start gap-4 md:gap-6 min-[1280px]:grid-cols-[minmax(0,1fr)_420px]">
        <div className="grid min-w-0 content-start gap-4 md:gap-6">
        <div className="grid gap-3">
          <div className="flex flex-wrap items-center gap-2"><Badge tone={look.tone} icon={look.icon}>{look.word}</Badge>{r.held && <Badge tone="warn" icon={Hourglass}>Held: its automation is paused</Badge>}</div>
          {r.error && <p className="smtp bad">{r.error}</p>}
          {r.waitingFor?.reason && (
            <div>
              <p><code>{r.waitingFor.step}</code> could not be completed. {r.held ? 'It will be retried when the automation is activated.' : <>Next retry <Time at={r.waitingFor.until} />{endedByAccount.has(r.waitingFor.reason.code) && ', or as soon as your plan or account changes'}.</>}</p>
              <p className="smtp">{r.waitingFor.reason.message}</p>
              {r.waitingFor.reason.code === 'plan_limit' && can('READ_BILLING') && <Link className="link" to={'/settings/billing' as string}>View plans</Link>}
            </div>
          )}
          {r.waitingFor && !r.waitingFor.reason && <p>Waiting at <code>{r.waitingFor.step}</code>{r.waitingFor.events.length > 0 && <> for <code>{r.waitingFor.events.join(', ')}</code></>}. Times out <Time at={r.waitingFor.until} />.</p>}
          {live && !r.waitingFor && r.nextAt && <p>Next step <Time at={r.nextAt} />.</p>}
          <DetailList>
            <Detail name="Run"><CopyableId id={r.id} /></Detail>
            <Detail name="Automation"><Link className="link under" to={up.to as string}>{up.name}</Link>, version {r.version}</Detail>
            <Detail name="Trigger"><Link className="link" to={`/events/${r.eventId}` as string}>{r.eventId}</Link></Detail>
            <Detail name="User ID">{r.userId}</Detail>
            <Detail name="Email">{r.email && <AddressLink address={r.email} />}</Detail>
            <Detail name="Started"><Time at={r.startedAt} exact /></Detail>
            <Detail name="Ended">{r.endedAt && <Time at={r.endedAt} exact />}</Detail>
            <Detail name="Converted">{r.convertedAt && <Time at={r.convertedAt} exact />}</Detail>
          </DetailList>
        </div>
        {definition && <Way steps={steps} trigger={definition.trigger} taken={taken} at={at} tall />}
        </div>
        <div className="grid min-w-0 content-start gap-4 md:gap-6">
        <Card title="Timeline">
          {newest.length === 0 ? <p className="text-ink-2">No steps yet.</p> : <Timeline>{newest.map((e, i) => <Happened key={i} entry={e} />)}</Timeline>}
        </Card>
        {r.emails.length > 0 && (
          <Card title="Emails" padded={false}>
            <ul>{r.emails.map((e) => <li key={e.id} className="flex items-center gap-3 border-b border-line-soft px-4 py-2 last:border-0"><Mail aria-hidden className="text-ink-3" /><Link className="min-w-0 flex-1 truncate font-medium hover:underline" to={`/emails/${e.id}` as string}>{e.subject}</Link><span className="text-ink-2">{e.status.toLowerCase()}</span></li>)}</ul>
          </Card>
        )}
        <CodeBlock title="Trigger event" text={JSON.stringify(r.event, null, 2)} />
        </div>
        </div>
      </PageBody>
      {asks === 'cancel' && <ConfirmDialog title="Cancel this run?" label="Cancel run" danger onClose={() => setAsks(null)} run={() => act('cancel')}>It won’t send anything else. This cannot be undone.</ConfirmDialog>}
      {asks === 'retry' && <ConfirmDialog title="Retry this run?" label="Retry" onClose={() => setAsks(null)} run={() => act('retry')}>It resumes at the failed step and may send email.</ConfirmDialog>}
    </>
  )
}

function lookOfEntry(e: Entry): { icon: LucideIcon; tone: Tone; what: string } {
  if (e.source === 'wait') return { icon: Hourglass, tone: 'warn', what: lookOfStep(e.type).word }
  if (e.error) return { icon: Octagon, tone: 'bad', what: e.source === 'step' ? lookOfStep(e.type).word : e.type }
  if (e.source === 'step') return { icon: lookOfStep(e.type).icon, tone: lookOfOutcome(e.status ?? '').tone, what: lookOfStep(e.type).word }
  if (e.source === 'event') return { icon: Zap, tone: e.status === 'cancelled' ? 'warn' : 'info', what: e.type }
  if (e.source === 'run') return { icon: Play, tone: e.type.endsWith('failed') ? 'bad' : e.type.endsWith('converted') ? 'ok' : 'quiet', what: e.type }
  return { icon: Mail, tone: /bounced|failed|complained/.test(e.type) ? 'bad' : /delivered/.test(e.type) ? 'ok' : 'quiet', what: e.type }
}

function Happened({ entry: e }: { entry: Entry }) {
  const look = lookOfEntry(e)
  const to = e.subjectId?.startsWith('msg_') ? `/emails/${e.subjectId}` : e.subjectId?.startsWith('ae_') ? `/events/${e.subjectId}` : null
  const details = e.data !== null && typeof e.data === 'object' && Object.keys(e.data).length > 0
  return (
    <TimelineEntry
      icon={look.icon} tone={look.tone} title={look.what} at={e.at} reply={e.error}
      subject={<>{e.stepKey && <code className="text-ink-2">{e.stepKey}</code>} {e.status && <span className="text-ink-2">{e.status.replaceAll('_', ' ')}</span>} {to && <Link className="link text-xs" to={to as string}>open</Link>}</>}
      details={details && <details><summary className="cursor-pointer">Details</summary><div className="mt-1"><CodeBlock text={JSON.stringify(e.data, null, 2)} wrap max="max-h-60" /></div></details>}
    />
  )
}
