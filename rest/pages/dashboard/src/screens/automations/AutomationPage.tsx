import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useQueryClient } from '@tanstack/react-query'
import { Archive, Copy, Pause, Play, Trash2, Workflow } from 'lucide-react'
import { useCallback, useMemo, useRef, useState } from 'react'
import { keyOf, useGraphQL } from '@/api/graphql'
import { unwrap, newIdempotencyKey, rest } from '@/api/rest'
import { useSearchParams } from '@/app/searchParams'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { Badge } from '@/parts/Badge'
import { CopyableId } from '@/parts/CopyButton'
import { EmptyState } from '@/parts/EmptyState'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Menu } from '@/parts/Menu'
import { PageHead } from '@/parts/Page'
import { SkeletonRows } from '@/parts/Skeleton'
import { Tabs } from '@/parts/Tabs'
import { Time } from '@/parts/Time'
import { percent, shareOf } from '@/screens/statistics/figures'
import { ActivateDialog, ArchiveDialog, DeleteDialog, PauseDialog } from './Acts'
import { AutomationDetail, Automations } from './automations.gen'
import { LeaveDialog } from '@/screens/code/Dialogs'
import { useSaveKey } from '@/screens/code/unsaved'
import { Builder } from './Builder'
import { ConflictDialog } from './ConflictDialog'
import { Definition } from './Definition'
import { checkKey, definitionKey, useCheck, type Detail, type Problem } from './definition'
import { DryRun, type Played } from './DryRun'
import { traceOf } from './model/trace'
import { Runs } from './Runs'
import { Statistics } from './Statistics'
import { useDraft } from './useDraft'
import { lookOfAutomation } from './status'
import { Versions } from './Versions'

const up = { to: '/automations', name: 'Automations' }

export default function AutomationPage() {
  const { id } = useParams({ strict: false }) as { id: string }
  const read = useGraphQL(AutomationDetail, { id }, { refetchInterval: 15_000 })
  const automation = read.data?.automation
  if (automation) return <Loaded key={automation.id} automation={automation} />
  return (
    <>
      <PageHead up={up} title={read.isLoading ? '' : 'Automation'} />
      {read.isLoading && <SkeletonRows rows={6} />}
      {read.error && <div className="p-4 md:p-6"><ErrorAlert error={read.error} retry={() => void read.refetch()} /></div>}
      {read.data && <EmptyState icon={Workflow} title="Automation not found" action={<Link className="btn" to={'/automations' as string}>All automations</Link>}>It was deleted, or it belongs to another account.</EmptyState>}
    </>
  )
}

function Loaded({ automation: a }: { automation: Detail }) {
  const { can, has } = useViewer()
  const write = can('DEFINE')
  const client = useQueryClient()
  const navigate = useNavigate()
  const [address, change] = useSearchParams()
  const tab = address.tab ?? 'steps'
  const [asks, setAsks] = useState<'activate' | 'pause' | 'archive' | 'delete' | null>(null)
  const check = useCheck(a.id, a.status !== 'ARCHIVED')
  const problems = check.data ?? none
  const look = lookOfAutomation[a.status]
  const changed = useCallback(() => Promise.all([
    client.invalidateQueries({ queryKey: keyOf(AutomationDetail, { id: a.id }) }), client.invalidateQueries({ queryKey: keyOf(Automations) }),
    client.invalidateQueries({ queryKey: checkKey(a.id) }), client.invalidateQueries({ queryKey: definitionKey(a.id) }),
  ]), [client, a.id])
  const writes = write && a.status !== 'ARCHIVED'
  const draft = useDraft(a.id, problems, changed)
  const { dirty } = draft
  useSaveKey(useCallback(() => { if (writes && dirty && !draft.busy && !draft.broken) void draft.save() }, [writes, dirty, draft]))
  // A dry run keeps its input while another tab is open.
  const tried = useRef(false)
  if (tab === 'try') tried.current = true
  const [played, setPlayed] = useState<Played | null>(null)
  const trace = useMemo(() => (played ? { ...traceOf(played.steps, played.taken), clear: () => setPlayed(null) } : null), [played])
  const open = draft.troubles.filter((t) => t.bad).length
  const elsewhere = dirty && a.etag !== draft.etag
  const startable = a.status === 'PAUSED' || a.status === 'DRAFT' || a.hasUnpublishedChanges
  async function duplicate() {
    try {
      const { automation } = await unwrap(rest.POST('/automations/{id}', { params: { path: { id: a.id }, header: { 'Idempotency-Key': newIdempotencyKey() } }, body: { action: 'duplicate' } }))
      void client.invalidateQueries({ queryKey: keyOf(Automations) })
      toast.success(`${automation.name} created`, { label: 'Open', run: () => void navigate({ to: `/automations/${automation.id}` as string }) })
    } catch (e) {
      toast.error(e, { label: 'Try again', run: () => void duplicate() })
    }
  }
  return (
    <>
      <PageHead up={up} title={a.name}>
        {write && a.status === 'ACTIVE' && <button type="button" className="btn" onClick={() => setAsks('pause')}><Pause aria-hidden />Pause</button>}
        {write && a.status !== 'ARCHIVED' && startable && <button type="button" className={`btn ${dirty ? '' : 'primary'}`} onClick={() => setAsks('activate')}><Play aria-hidden />{a.status === 'ACTIVE' ? 'Activate changes' : 'Activate'}</button>}
        <Menu entries={[
          { name: 'Duplicate', icon: Copy, run: () => void duplicate(), hidden: !write },
          { name: 'Archive', icon: Archive, run: () => setAsks('archive'), hidden: !write || a.status === 'ARCHIVED', danger: true },
          { name: 'Delete', icon: Trash2, run: () => setAsks('delete'), hidden: !write || a.status === 'ACTIVE', danger: true },
        ]} />
      </PageHead>
      <div className={`min-h-0 flex-1 overflow-auto ${tab === 'steps' ? 'md:grid md:grid-rows-[auto_auto_minmax(440px,1fr)]' : ''}`} tabIndex={-1}>
        <div className="grid gap-2 px-4 py-3 md:px-6">
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-3">
            <Badge tone={look.tone} icon={look.icon}>{look.word}{a.version !== null && a.status !== 'DRAFT' ? ` v${a.version}` : ''}</Badge>
            {a.hasUnpublishedChanges && a.version !== null && <span className="text-warn">The draft has changes that aren’t active.</span>}
            {a.draining && <span className="text-warn">{a.draining === 'CANCEL' ? 'Cancelling runs in progress.' : 'Resuming held runs.'}</span>}
            <CopyableId id={a.id} /><span>changed <Time at={a.updatedAt} /></span>
            {a.stats.started > 0 && <Figures stats={a.stats} go={(status) => change({ tab: 'runs', q: `status:${status}`, step: undefined })} />}
          </div>
          {a.description && <p className="text-ink-2">{a.description}</p>}
          {elsewhere && <p role="status" className="flex flex-wrap items-center gap-2 rounded-control bg-warn-soft px-3 py-1.5 text-warn"><span>Someone else changed this draft since you opened it. Your changes are kept.</span><button type="button" className="btn sm ml-auto" onClick={() => void draft.save()}>Compare changes</button></p>}
        </div>
        <Tabs
          label="Automation" value={tab} onChange={(key) => change({ tab: key === 'steps' ? undefined : key, q: undefined, step: undefined, range: undefined, by: undefined })}
          tabs={[{ key: 'steps', name: dirty ? 'Steps *' : 'Steps', count: open > 0 ? open : undefined }, { key: 'definition', name: 'JSON' }, { key: 'try', name: 'Dry run', hidden: !write }, { key: 'runs', name: 'Runs' }, { key: 'statistics', name: 'Statistics', hidden: !has('statistics') }, { key: 'versions', name: 'Versions', count: a.versions.length || undefined }]}
        >
          {draft.read.error && !draft.doc && (tab === 'steps' || tab === 'definition') && <div className="p-4 md:p-6"><ErrorAlert error={draft.read.error} retry={() => void draft.read.refetch()} /></div>}
          {!draft.doc && !draft.read.error && <SkeletonRows rows={5} />}
          {tab === 'steps' && draft.doc && <Builder automation={a} draft={draft} write={writes} trace={trace} />}
          {tab === 'definition' && draft.doc && <Definition draft={draft} write={writes} />}
          {write && tried.current && <div hidden={tab !== 'try'}><DryRun automation={a} dirty={dirty} save={writes ? draft.save : undefined} onPlayed={setPlayed} /></div>}
          {tab === 'runs' && <Runs automation={a} />}
          {tab === 'statistics' && <Statistics automation={a} write={writes} />}
          {tab === 'versions' && <div className="p-4 md:p-6"><Versions automation={a} write={write} changed={changed} /></div>}
        </Tabs>
      </div>
      <ConflictDialog draft={draft} />
      <LeaveDialog leaving={draft.leaving} drop={draft.drop} />
      {asks === 'activate' && <ActivateDialog automation={a} dirty={dirty} problems={problems} changed={changed} onClose={() => setAsks(null)} />}
      {asks === 'pause' && <PauseDialog automation={a} changed={changed} onClose={() => setAsks(null)} />}
      {asks === 'archive' && <ArchiveDialog automation={a} changed={changed} onClose={() => setAsks(null)} />}
      {asks === 'delete' && <DeleteDialog automation={a} onClose={() => setAsks(null)} />}
    </>
  )
}

const none: Problem[] = []

function Figures({ stats, go }: { stats: Detail['stats']; go: (status: string) => void }) {
  const list = [['running', 'running', stats.running], ['waiting', 'waiting', stats.waiting], ['completed', 'completed', stats.completed], ['failed', 'failed', stats.failed], ['cancelled', 'cancelled', stats.cancelled]] as const
  return (
    <ul aria-label="Runs" className="flex flex-wrap gap-x-4 gap-y-1 text-sm text-ink-2 md:ml-auto">
      <li><b className="font-semibold text-ink tabular-nums">{stats.started.toLocaleString()}</b> runs</li>
      {list.filter(([, , n]) => n > 0).map(([key, name, n]) => (
        <li key={key}><button type="button" onClick={() => go(key)} title="View these runs" className={`hover:underline ${key === 'failed' ? 'text-bad' : ''}`}><b className="font-semibold tabular-nums">{n.toLocaleString()}</b> {name}</button></li>
      ))}
      {stats.withGoal > 0 && <li title={`${stats.converted.toLocaleString()} of ${stats.withGoal.toLocaleString()} runs with a goal`}><b className="font-semibold text-ink tabular-nums">{stats.converted.toLocaleString()}</b> converted ({percent(shareOf(stats.conversionRate))})</li>}
    </ul>
  )
}
