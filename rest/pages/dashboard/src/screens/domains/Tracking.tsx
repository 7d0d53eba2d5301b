import { useQuery } from '@tanstack/react-query'
import { Check, CircleHelp, CircleX, Clock, RefreshCw, Trash2 } from 'lucide-react'
import { useState, type FormEvent } from 'react'
import { ApiError } from '@/api/errors'
import { unwrap, rest } from '@/api/rest'
import type { components } from '@/api/rest.gen'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { Badge, type Tone } from '@/parts/Badge'
import { ConfirmDialog } from '@/parts/ConfirmDialog'
import { CopyButton } from '@/parts/CopyButton'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Field, useWrite } from '@/parts/Form'
import { Card, Detail, DetailList } from '@/parts/Page'
import { SkeletonText } from '@/parts/Skeleton'
import { Time } from '@/parts/Time'
import type { Domain } from './Page'

type Host = components['schemas']['TrackingHost']

const looks: Record<Host['status'], { word: string; tone: Tone; icon: typeof Check }> = {
  verified: { word: 'In use', tone: 'ok', icon: Check },
  pending: { word: 'Waiting for DNS record', tone: 'warn', icon: Clock },
  failed: { word: 'Record missing', tone: 'bad', icon: CircleX },
}
const certificates: Record<Host['certificate']['status'], string> = {
  not_needed: 'Not needed', unavailable: 'Not available', pending: 'Requesting', issued: 'Issued', failed: 'Failed',
}

// Tracking is the host name of the tracked links of a domain.
export function Tracking({ domain }: { domain: Domain }) {
  const { can } = useViewer()
  const path = { id: domain.id }
  const host = useQuery({
    queryKey: ['TrackingHost', domain.id],
    queryFn: () =>
      unwrap(rest.GET('/domains/{id}/tracking-host', { params: { path } })).then((a) => a.tracking_host, (e: unknown) => {
        if (e instanceof ApiError && e.status === 404) return null
        throw e
      }),
  })
  const [name, setName] = useState(`links.${domain.name}`)
  const [asking, setAsking] = useState(false)
  const set = useWrite(async () => {
    await unwrap(rest.PUT('/domains/{id}/tracking-host', { params: { path }, body: { host: name.trim() } }))
    await host.refetch()
  })
  const verify = useWrite(async () => {
    const answer = await unwrap(rest.POST('/domains/{id}/tracking-host/verify', { params: { path } }))
    if (answer.tracking_host.status === 'verified') toast.success(`${answer.tracking_host.host} verified`)
    await host.refetch()
  })
  const h = host.data
  const may = can('DEFINE')
  const acts = h && may && (
    <>
      <button type="button" className="btn sm" disabled={verify.busy} onClick={() => void verify.run()}><RefreshCw aria-hidden />{verify.busy ? 'Checking…' : 'Verify now'}</button>
      <button type="button" className="btn sm square" aria-label="Remove tracking host" title="Remove" onClick={() => setAsking(true)}><Trash2 aria-hidden /></button>
    </>
  )
  return (
    <Card title="Tracking host" actions={acts}>
      <div className="grid max-w-[640px] gap-4">
        {host.isPending && <SkeletonText lines={3} />}
        {host.error && <ErrorAlert error={host.error} retry={() => void host.refetch()} />}
        {h && <HostFacts host={h} />}
        {verify.error !== null && <ErrorAlert error={verify.error} retry={() => void verify.run()} />}
        {h === null && domain.status === 'PENDING' && <p className="text-ink-2">Tracked links use Postrider’s host name. Once the domain is verified, you can use your own.</p>}
        {h === null && domain.status !== 'PENDING' && !may && <p className="text-ink-2">Tracked links use Postrider’s host name.</p>}
        {h === null && domain.status !== 'PENDING' && may && (
          <form onSubmit={(e: FormEvent) => { e.preventDefault(); void set.run() }} className="grid gap-3">
            <Field label="Host" hint="Tracked links use Postrider’s host name. To use a subdomain of yours instead, publish one CNAME record." error={set.fieldErrors.host}>
              {(p) => <input {...p} className="input" value={name} onChange={(e) => setName(e.target.value)} required autoComplete="off" spellCheck={false} />}
            </Field>
            {set.error !== null && Object.keys(set.fieldErrors).length === 0 && <ErrorAlert error={set.error} />}
            <button type="submit" className="btn justify-self-start" disabled={set.busy}>Use this host</button>
          </form>
        )}
      </div>
      {asking && h && (
        <ConfirmDialog
          title={`Remove ${h.host}?`} label="Remove host" danger onClose={() => setAsking(false)}
          run={async () => {
            await unwrap(rest.DELETE('/domains/{id}/tracking-host', { params: { path } }))
            await host.refetch()
          }}
        >
          <p>Links in new emails use Postrider’s host name again.</p>
        </ConfirmDialog>
      )}
    </Card>
  )
}

function HostFacts({ host: h }: { host: Host }) {
  const look = looks[h.status] ?? { word: h.status, tone: 'quiet', icon: CircleHelp }
  return (
    <>
      <p className="flex flex-wrap items-center gap-2"><Badge tone={look.tone} icon={look.icon}>{look.word}</Badge><span className="font-medium wrap-anywhere">{h.host}</span></p>
      <DetailList>
        <Detail name="Type">{h.record.type}</Detail>
        <Detail name="Name"><code>{h.record.name}</code><CopyButton text={h.record.name} label="Copy name" /></Detail>
        <Detail name="Value"><code>{h.record.value}</code><CopyButton text={h.record.value} label="Copy value" /></Detail>
        <Detail name="Found in DNS">{h.record.found.length > 0 ? <code>{h.record.found.join(' → ')}</code> : h.last_checked_at ? 'Nothing' : null}</Detail>
        <Detail name="Certificate">{certificates[h.certificate.status] ?? h.certificate.status}{h.certificate.expires_at && <>, until <Time at={h.certificate.expires_at} /></>}</Detail>
        <Detail name="Last check">{h.last_checked_at ? <Time at={h.last_checked_at} /> : 'Never'}</Detail>
      </DetailList>
      {(h.record.error ?? h.certificate.error) && <p className="smtp bad">{h.record.error ?? h.certificate.error}</p>}
    </>
  )
}
