import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useQueryClient } from '@tanstack/react-query'
import { Archive, Copy, Pause, Play, Trash2, Workflow } from 'lucide-react'
import { useState } from 'react'
import { keyOf, useGraph } from '@/api/graphql'
import { done, onceKey, rest } from '@/api/rest'
import { useAddress } from '@/app/address'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { Badge } from '@/parts/Badge'
import { Id } from '@/parts/Copy'
import { EmptyState } from '@/parts/EmptyState'
import { Failure } from '@/parts/Failure'
import { Menu } from '@/parts/Menu'
import { PageHead } from '@/parts/Page'
import { SkeletonRows } from '@/parts/Skeleton'
import { Tabs } from '@/parts/Tabs'
import { Time } from '@/parts/Time'
import { ActivateDialog, ArchiveDialog, DeleteDialog, PauseDialog } from './Acts'
import { AutomationDetail, Automations } from './automations.gen'
import { Definition } from './Definition'
import { checkKey, definitionKey, useCheck, type Detail } from './definition'
import { DryRun } from './DryRun'
import { Outline } from './Outline'
import { Runs } from './Runs'
import { lookOfAutomation } from './status'
import { Versions } from './Versions'

const up = { to: '/automations', name: 'Automations' }

export default function AutomationPage() {
  const { id } = useParams({ strict: false }) as { id: string }
  const read = useGraph(AutomationDetail, { id }, { refetchInterval: 15_000 })
  const automation = read.data?.automation
  if (automation) return <Loaded key={automation.id} automation={automation} />
  return (
    <>
      <PageHead up={up} title={read.isLoading ? '' : 'Automation'} />
      {read.isLoading && <SkeletonRows rows={6} />}
      {read.error && <div className="p-4 md:p-6"><Failure error={read.error} retry={() => void read.refetch()} /></div>}
      {read.data && <EmptyState icon={Workflow} title="There is no such automation" action={<Link className="btn" to={'/automations' as string}>All automations</Link>}>It was deleted, or it belongs to another account.</EmptyState>}
    </>
  )
}

function Loaded({ automation: a }: { automation: Detail }) {
  const { can } = useViewer()
  const write = can('WRITE')
  const client = useQueryClient()
  const navigate = useNavigate()
  const [address, change] = useAddress()
  const tab = address.tab ?? 'outline'
  const [asks, setAsks] = useState<'activate' | 'pause' | 'archive' | 'delete' | null>(null)
  const [dirty, setDirty] = useState(false)
  const check = useCheck(a.id, a.status !== 'ARCHIVED')
  const problems = check.data ?? []
  const look = lookOfAutomation[a.status]
  const changed = () => Promise.all([
    client.invalidateQueries({ queryKey: keyOf(AutomationDetail, { id: a.id }) }), client.invalidateQueries({ queryKey: keyOf(Automations) }),
    client.invalidateQueries({ queryKey: checkKey(a.id) }), client.invalidateQueries({ queryKey: definitionKey(a.id) }),
  ])
  const startable = a.status === 'PAUSED' || a.status === 'DRAFT' || a.hasUnpublishedChanges
  async function duplicate() {
    try {
      const { automation } = await done(rest.POST('/automations/{id}', { params: { path: { id: a.id }, header: { 'Idempotency-Key': onceKey() } }, body: { action: 'duplicate' } }))
      void client.invalidateQueries({ queryKey: keyOf(Automations) })
      toast.ok(`${automation.name} is made`, { label: 'Open it', run: () => void navigate({ to: `/automations/${automation.id}` as string }) })
    } catch (e) {
      toast.failed(e, { label: 'Try again', run: () => void duplicate() })
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
      <div className="min-h-0 flex-1 overflow-auto" tabIndex={-1}>
        <div className="grid gap-3 px-4 pt-4 md:px-6">
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-3">
            <Badge tone={look.tone} icon={look.icon}>{look.word}{a.version !== null && a.status !== 'DRAFT' ? ` v${a.version}` : ''}</Badge>
            {a.hasUnpublishedChanges && a.version !== null && <span className="text-warn">The draft has changes that are not active.</span>}
            {a.draining && <span className="text-warn">{a.draining === 'CANCEL' ? 'Live runs are being cancelled.' : 'Held runs are being let go.'}</span>}
            <Id id={a.id} /><span>changed <Time at={a.updatedAt} /></span>
          </div>
          {a.description && <p className="text-ink-2">{a.description}</p>}
          <Figures stats={a.stats} go={(status) => change({ tab: 'runs', q: `status:${status}` })} />
        </div>
        <div className="pt-3">
          <Tabs
            label="The automation" value={tab} onChange={(key) => change({ tab: key, q: undefined })}
            tabs={[{ key: 'outline', name: 'Outline' }, { key: 'definition', name: dirty ? 'Definition *' : 'Definition', count: problems.length > 0 ? problems.length : undefined }, { key: 'try', name: 'Dry run', hidden: !write }, { key: 'runs', name: 'Runs' }, { key: 'versions', name: 'Versions', count: a.versions.length || undefined }]}
          >
            <div className={tab === 'runs' ? '' : 'p-4 md:p-6'}>
              {tab === 'outline' && <Outline automation={a} problems={problems} />}
              <div hidden={tab !== 'definition'}><Definition automation={a} problems={problems} write={write && a.status !== 'ARCHIVED'} shown={tab === 'definition'} saved={changed} onDirty={setDirty} /></div>
              {tab === 'try' && write && <DryRun automation={a} dirty={dirty} />}
              {tab === 'runs' && <Runs automation={a} />}
              {tab === 'versions' && <Versions automation={a} write={write} changed={changed} />}
            </div>
          </Tabs>
        </div>
      </div>
      {asks === 'activate' && <ActivateDialog automation={a} dirty={dirty} problems={problems} changed={changed} onClose={() => setAsks(null)} />}
      {asks === 'pause' && <PauseDialog automation={a} changed={changed} onClose={() => setAsks(null)} />}
      {asks === 'archive' && <ArchiveDialog automation={a} changed={changed} onClose={() => setAsks(null)} />}
      {asks === 'delete' && <DeleteDialog automation={a} onClose={() => setAsks(null)} />}
    </>
  )
}

function Figures({ stats, go }: { stats: Detail['stats']; go: (status: string) => void }) {
  const list = [['running', 'Running', stats.running], ['waiting', 'Waiting', stats.waiting], ['completed', 'Completed', stats.completed], ['failed', 'Failed', stats.failed], ['cancelled', 'Cancelled', stats.cancelled]] as const
  return (
    <dl className="flex flex-wrap gap-x-6 gap-y-2">
      <div><dt className="text-xs text-ink-3">Runs started</dt><dd className="text-lg font-semibold tabular-nums">{stats.started.toLocaleString()}</dd></div>
      {list.map(([key, name, n]) => (
        <div key={key}><dt className="text-xs text-ink-3">{name}</dt><dd><button type="button" onClick={() => go(key)} aria-label={`${n} ${name.toLowerCase()}: show these runs`} className={`text-lg font-semibold tabular-nums hover:underline ${key === 'failed' && n > 0 ? 'text-bad' : ''}`}>{n.toLocaleString()}</button></dd></div>
      ))}
    </dl>
  )
}
