import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { KeyRound, Pause, Pencil, Play, Send, Trash2, Undo2, Webhook } from 'lucide-react'
import { useState } from 'react'
import { keyOf, useGraphQL } from '@/api/graphql'
import { unwrap, rest } from '@/api/rest'
import { useSearchParams } from '@/app/searchParams'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { Badge, toneText } from '@/parts/Badge'
import { ConfirmDialog } from '@/parts/ConfirmDialog'
import { CopyButton, CopyableId } from '@/parts/CopyButton'
import { EmptyState } from '@/parts/EmptyState'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Menu } from '@/parts/Menu'
import { PageBody, PageHead } from '@/parts/Page'
import { adjacentRows, Sheet, SplitView } from '@/parts/Sheet'
import { SkeletonText } from '@/parts/Skeleton'
import { formatDuration, Time } from '@/parts/Time'
import { Deliveries } from './Deliveries'
import { Delivery } from './Delivery'
import { EndpointDialog } from './EndpointDialog'
import { eventsText } from './events'
import { FilterText } from './Filter'
import { FailingNote } from './FailingSince'
import { lookOfWebhook, pendingOf, rateText, rateTone, whyOff } from './look'
import { OverTime, useFigures } from './OverTime'
import { WebhookDeliveryList, WebhookDetail, WebhookFigures, WebhookList, type WebhookRowFragment } from './queries.gen'
import { Recover } from './Recover'
import { Rotate } from './Rotate'
import { TestEvent } from './TestEvent'

const up = { to: '/webhooks', name: 'Webhooks' }

export default function Page() {
  const { id } = useParams({ strict: false }) as { id: string }
  const detail = useGraphQL(WebhookDetail, { id })
  const endpoint = detail.data?.webhook
  if (endpoint) return <View key={id} endpoint={endpoint} />
  return (
    <>
      <PageHead title="Endpoint" up={up} />
      <PageBody>
        {detail.error ? <ErrorAlert error={detail.error} retry={() => void detail.refetch()} /> : detail.isPending ? <SkeletonText lines={8} /> : <EmptyState icon={Webhook} title="Endpoint not found">It may have been deleted. Back to <Link to="/webhooks" className="link">Webhooks</Link>.</EmptyState>}
      </PageBody>
    </>
  )
}

type Open = 'edit' | 'rotate' | 'test' | 'recover' | 'delete' | 'off'

function View({ endpoint: w }: { endpoint: WebhookRowFragment }) {
  const [address, change] = useSearchParams()
  const { can } = useViewer()
  const navigate = useNavigate()
  const queries = useQueryClient()
  const [dialog, setDialog] = useState<Open>()
  const may = can('WRITE')
  const read = useFigures(w.id)
  const path = { id: w.id }
  const close = () => setDialog(undefined)
  const again = () => void Promise.all([keyOf(WebhookDetail, { id: w.id }), [WebhookList.name], [WebhookFigures.name], [WebhookDeliveryList.name]].map((queryKey) => queries.invalidateQueries({ queryKey })))

  async function enable(enabled: boolean) {
    await unwrap(rest.PATCH('/webhooks/{id}', { params: { path }, body: { enabled } }))
    again()
    toast.success(enabled ? 'Endpoint enabled' : 'Endpoint disabled', enabled ? { label: 'Recover missed events', run: () => setDialog('recover') } : undefined)
  }
  async function remove() {
    await unwrap(rest.DELETE('/webhooks/{id}', { params: { path } }))
    void queries.invalidateQueries({ queryKey: [WebhookList.name] })
    toast.success('Endpoint deleted')
    void navigate({ to: '/webhooks' })
  }
  const open = address.open
  const [ids, setIds] = useState<string[]>([])
  return (
    <>
      <PageHead title={w.url.replace(/^https?:\/\//, '')} up={up}>
        {may && <button type="button" className="btn" disabled={!w.enabled} title={w.enabled ? undefined : 'Enable the endpoint to send a test event.'} onClick={() => setDialog('test')}><Send aria-hidden />Test event</button>}
        {may && !w.enabled && (<button type="button" className="btn primary" onClick={() => void enable(true).catch(toast.error)}><Play aria-hidden />Enable</button>)}
        <Menu
          entries={[
            { name: 'Recover failed deliveries', icon: Undo2, run: () => setDialog('recover'), hidden: !may || !w.enabled },
            { name: 'Edit endpoint', icon: Pencil, run: () => setDialog('edit'), hidden: !may },
            { name: 'Rotate secret', icon: KeyRound, run: () => setDialog('rotate'), hidden: !may },
            { name: 'Disable', icon: Pause, run: () => setDialog('off'), hidden: !may || !w.enabled },
            { name: 'Delete endpoint', icon: Trash2, run: () => setDialog('delete'), danger: true, hidden: !may },
          ]}
        />
      </PageHead>
      <SplitView sheet={open && <Sheet label="Delivery" head={<CopyableId id={open} />} onClose={() => change({ open: undefined })} {...adjacentRows(ids, open, (next) => change({ open: next }))}><Delivery key={open} id={open} endpoint={w} /></Sheet>}>
        <Summary endpoint={w} read={read} />
        <OverTime figures={read} />
        <Deliveries endpoint={w} listed={setIds} recover={may && w.enabled ? () => setDialog('recover') : undefined} test={may && w.enabled ? () => setDialog('test') : undefined} />
      </SplitView>
      {dialog === 'edit' && <EndpointDialog endpoint={w} onClose={close} made={() => { again(); toast.success('Saved') }} />}
      {dialog === 'rotate' && <Rotate id={w.id} onClose={close} />}
      {dialog === 'test' && <TestEvent endpoint={w} onClose={close} sent={again} />}
      {dialog === 'recover' && <Recover id={w.id} onClose={close} done={again} />}
      {dialog === 'off' && (
        <ConfirmDialog title="Disable the endpoint?" label="Disable endpoint" onClose={close} run={() => enable(false)}><p>Nothing is delivered while it’s disabled. You can later recover missed events from the last 30 days.</p></ConfirmDialog>
      )}
      {dialog === 'delete' && (
        <ConfirmDialog title="Delete the endpoint?" label="Delete endpoint" danger onClose={close} run={remove}><p className="wrap-anywhere">{w.url} receives no more events, and its secret stops working.</p></ConfirmDialog>
      )}
    </>
  )
}

function Summary({ endpoint: w, read }: { endpoint: WebhookRowFragment; read: ReturnType<typeof useFigures> }) {
  const f = read.found?.endpoints.find((e) => e.webhook.id === w.id)?.figures
  const look = lookOfWebhook(w, f)
  const pending = f ? pendingOf(f) : 0
  const figures = [
    [`Successful attempts, ${read.choice.name}`, <span key="r" className={toneText[rateTone(f)]}>{rateText(f)}</span>],
    ['p95', f?.latency ? formatDuration(f.latency.p95 * 1000) : '–'],
    ['p50', f?.latency ? formatDuration(f.latency.p50 * 1000) : '–'],
    ['Delivered', f?.succeeded.toLocaleString() ?? '–'],
    ['Failed', f?.failed.toLocaleString() ?? '–'],
    ...(pending > 0 ? [[w.enabled ? 'Retrying' : 'Paused', <span key="p" className="text-warn">{pending.toLocaleString()}</span>] as const] : []),
  ] as const
  return (
    <div className="grid flex-none gap-3 border-b border-line px-4 py-4 md:px-6">
      <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
        <Badge tone={look.tone} icon={look.icon}>{look.word}</Badge>
        <span className="flex min-w-0 items-center gap-0.5"><code className="wrap-anywhere">{w.url}</code><CopyButton text={w.url} label="Copy URL" /></span>
        <span className="text-xs text-ink-3" title={w.events.join('\n')}>{eventsText(w.events)}{w.rateLimit ? `, at most ${w.rateLimit} per second` : ''}</span>
        {w.filter && <span className="text-xs text-ink-3"><FilterText filter={w.filter} /></span>}
        {w.headers.length > 0 && <span className="text-xs text-ink-3">Sends {w.headers.map((h) => h.name).join(', ')}</span>}
      </div>
      {w.description && <p className="wrap-anywhere text-ink-2">{w.description}</p>}
      {look.word === 'Failing' && <p role="status" className="rounded-control bg-warn-soft px-3 py-2 text-warn empty:hidden"><FailingNote webhookId={w.id} /></p>}
      {!w.enabled && <p role="status" className={`rounded-control px-3 py-2 ${look.tone === 'bad' ? 'bg-bad-soft text-bad' : 'bg-sunken text-ink-2'}`}>Disabled{w.disabledAt && <> <Time at={w.disabledAt} /></>} {whyOff(w.disabledReason)}. Nothing is delivered to it.</p>}
      <dl className="flex flex-wrap gap-x-8 gap-y-2">
        {figures.map(([name, value]) => <div key={name}><dt className="text-xs text-ink-3">{name}</dt><dd className="text-lg font-medium">{value}</dd></div>)}
      </dl>
    </div>
  )
}

