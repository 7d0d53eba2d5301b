import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { Download, Globe, RefreshCw, Trash2, Upload } from 'lucide-react'
import { useState } from 'react'
import { useGraphQL, keyOf } from '@/api/graphql'
import { useLive } from '@/api/live'
import { testMode } from '@/api/mode'
import { unwrap, rest } from '@/api/rest'
import { useSearchParams } from '@/app/searchParams'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { Badge } from '@/parts/Badge'
import { ConfirmDialog } from '@/parts/ConfirmDialog'
import { CopyButton, CopyableId } from '@/parts/CopyButton'
import { EmptyState } from '@/parts/EmptyState'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { useWrite } from '@/parts/Form'
import { domainToUnicode } from '@/parts/idn'
import { Menu } from '@/parts/Menu'
import { PageBody, PageHead } from '@/parts/Page'
import { SkeletonText } from '@/parts/Skeleton'
import { Tabs } from '@/parts/Tabs'
import { Time } from '@/parts/Time'
import { Checks } from './Checks'
import { Deliverability } from './Deliverability'
import { Dmarc } from './Dmarc'
import { Keys } from './Keys'
import { domainLooks } from './look'
import { Publish } from './Publish'
import { DomainChecks, DomainDetail, DomainList, type DomainDetailQuery } from './queries.gen'
import { Records } from './Records'
import { Settings } from './Settings'
import { Tracking } from './Tracking'
import { saveZoneFile } from './zone'

export type Domain = NonNullable<DomainDetailQuery['domain']>

const up = { to: '/domains', name: 'Domains' }

export default function Page() {
  const { id } = useParams({ strict: false }) as { id: string }
  const queries = useQueryClient()
  const detail = useGraphQL(DomainDetail, { id })
  const read = () => Promise.all([keyOf(DomainDetail, { id }), keyOf(DomainChecks, { id }), [DomainList.name]].map((queryKey) => queries.invalidateQueries({ queryKey })))
  useLive(['domain.'], () => void read())
  const domain = detail.data?.domain
  if (domain) return <View key={id} domain={domain} read={read} />
  return (
    <>
      <PageHead title="Domain" up={up} />
      <PageBody>
        {detail.error ? <ErrorAlert error={detail.error} retry={() => void detail.refetch()} /> : detail.isPending ? <SkeletonText lines={8} /> : <EmptyState icon={Globe} title="Domain not found">It may have been deleted. Back to <Link to="/domains" className="link">Domains</Link>.</EmptyState>}
      </PageBody>
    </>
  )
}

function View({ domain, read }: { domain: Domain; read: () => Promise<unknown> }) {
  const [address, change] = useSearchParams()
  const { can, has } = useViewer()
  const navigate = useNavigate()
  const queries = useQueryClient()
  const [dialog, setDialog] = useState<'delete' | 'publish' | { dmarc: string }>()
  const path = { id: domain.id }
  const verify = useWrite(async () => {
    const answer = await unwrap(rest.POST('/domains/{id}/verify', { params: { path } }))
    await read()
    const open = answer.domain.records.filter((r) => r.required && r.status !== 'verified').length
    if (open === 0) toast.success(`${domain.name} verified: all required records found`)
  })
  const look = domainLooks[domain.status]
  const may = can('DEFINE')
  const tab = address.tab ?? 'records'

  async function remove() {
    await unwrap(rest.DELETE('/domains/{id}', { params: { path } }))
    void queries.invalidateQueries({ queryKey: [DomainList.name] })
    toast.success(`${domain.name} deleted`)
    void navigate({ to: '/domains' })
  }
  return (
    <>
      <PageHead title={<span title={domain.name}>{domainToUnicode(domain.name)}</span>} up={up}>
        {may && <button type="button" className="btn primary" disabled={verify.busy} onClick={() => void verify.run()}><RefreshCw aria-hidden className={verify.busy ? 'animate-spin motion-reduce:animate-none' : ''} />{verify.busy ? 'Checking…' : 'Verify now'}</button>}
        <Menu
          entries={[
            { name: 'Publish to DNS provider', icon: Upload, run: () => setDialog('publish'), hidden: !may },
            { name: 'Download zone file', icon: Download, run: () => void saveZoneFile(domain).catch(toast.error), hidden: testMode },
            { name: 'Delete domain', icon: Trash2, run: () => setDialog('delete'), danger: true, hidden: !may },
          ]}
        />
      </PageHead>
      <div className="min-h-0 flex-1 overflow-auto" tabIndex={-1}>
        <div className="grid gap-2 px-4 py-4 md:px-6">
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <Badge tone={look.tone} icon={look.icon}>{look.word}</Badge>
            <span className="inline-flex min-w-0 items-center gap-0.5 text-md font-medium"><span className="wrap-anywhere">{domain.name}</span><CopyButton text={domain.name} label="Copy name" /></span>
            <CopyableId id={domain.id} />
          </div>
          <p className="text-ink-2">
            {look.means} <span className="text-ink-3" role="status">{domain.lastCheckedAt ? <>Last checked <Time at={domain.lastCheckedAt} />.</> : domain.status === 'VERIFIED' ? 'Set up by development mode, without a DNS check.' : 'DNS not checked yet.'}</span>
          </p>
          {verify.error !== null && <ErrorAlert title="Couldn’t check DNS" error={verify.error} retry={() => void verify.run()} />}
        </div>
        <Tabs
          label={domain.name} value={tab} onChange={(key) => change({ tab: key === 'records' ? undefined : key })}
          tabs={[{ key: 'records', name: 'DNS records', count: domain.records.length }, { key: 'settings', name: 'Settings' }, { key: 'keys', name: 'DKIM keys', count: domain.dkimKeys.length }, { key: 'checks', name: 'Checks' }, ...(has('deliverability') && !testMode ? [{ key: 'deliverability', name: 'Deliverability' }] : [])]}
        >
          <div className="grid min-w-0 content-start gap-4 p-4 md:gap-6 md:p-6">
            {tab === 'records' && <><Records domain={domain} publish={may ? () => setDialog('publish') : undefined} /><Dmarc domain={domain} /></>}
            {tab === 'settings' && <><Settings domain={domain} read={read} />{has('tracking') && !testMode && <Tracking domain={domain} />}</>}
            {tab === 'keys' && <Keys domain={domain} read={read} />}
            {tab === 'checks' && <Checks id={domain.id} />}
            {tab === 'deliverability' && has('deliverability') && !testMode && <Deliverability id={domain.id} publish={may ? (dmarc) => setDialog({ dmarc }) : undefined} />}
          </div>
        </Tabs>
      </div>
      {typeof dialog === 'object' && <Publish domain={domain} dmarc={dialog.dmarc} onClose={() => setDialog(undefined)} read={read} />}
      {dialog === 'publish' && <Publish domain={domain} onClose={() => setDialog(undefined)} read={read} />}
      {dialog === 'delete' && (
        <ConfirmDialog title={`Delete ${domain.name}?`} label="Delete domain" danger onClose={() => setDialog(undefined)} run={remove}>
          <p>Its signing keys are deleted too, and its queued emails fail. Sent emails stay available. If you add it again, you get new keys and records to publish.</p>
        </ConfirmDialog>
      )}
    </>
  )
}
