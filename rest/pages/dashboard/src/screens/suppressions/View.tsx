import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Ban, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useGraphQL } from '@/api/graphql'
import { unwrap, rest } from '@/api/rest'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { AddressLink } from '@/parts/AddressLink'
import { Badge } from '@/parts/Badge'
import { ConfirmDialog } from '@/parts/ConfirmDialog'
import { CopyButton, CopyableId } from '@/parts/CopyButton'
import { EmptyState } from '@/parts/EmptyState'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Detail, DetailList } from '@/parts/Page'
import { SkeletonText } from '@/parts/Skeleton'
import { Time } from '@/parts/Time'
import { erased, reasons } from './look'
import { SuppressionDetail, SuppressionList } from './queries.gen'

// SuppressionView shows a suppression: its reason, its time and the email that caused it.
export function SuppressionView({ id, removed }: { id: string; removed: () => void }) {
  const { can, has } = useViewer()
  const queries = useQueryClient()
  const [asking, setAsking] = useState(false)
  const detail = useGraphQL(SuppressionDetail, { id })
  const s = detail.data?.suppression
  if (detail.error && !s) return <div className="p-5"><ErrorAlert error={detail.error} retry={() => void detail.refetch()} /></div>
  if (detail.isPending) return <div className="p-5"><SkeletonText /></div>
  if (!s) return <EmptyState icon={Ban} title="Not suppressed">This suppression was removed, or never existed.</EmptyState>
  const look = reasons[s.reason]
  async function remove() {
    await unwrap(rest.DELETE('/suppressions/{id}', { params: { path: { id } } }))
    void queries.invalidateQueries({ queryKey: [SuppressionList.name] })
    toast.success(`${s?.email ?? 'The address'} can receive emails again`)
    removed()
  }
  return (
    <div className="grid gap-5 p-4 md:p-5">
      <div className="grid gap-2">
        <p className="flex min-w-0 items-center gap-1 text-lg font-medium"><span className="min-w-0 wrap-anywhere">{s.email ? <AddressLink address={s.email} /> : erased}</span>{s.email && <CopyButton text={s.email} label="Copy address" />}</p>
        <p className="flex flex-wrap items-center gap-2 text-ink-2"><Badge tone={look.tone} icon={look.icon}>{look.word}</Badge>{look.means}</p>
      </div>
      <DetailList>
        <Detail name="ID"><CopyableId id={s.id} /></Detail>
        <Detail name="Since"><Time at={s.createdAt} exact /></Detail>
        <Detail name="Caused by">{s.emailId && (has('sending') ? <Link to={`/emails/${s.emailId}`} className="link wrap-anywhere">{s.emailId}</Link> : s.emailId)}</Detail>
      </DetailList>
      <p className="text-ink-2">Emails that include this address are not sent to any recipient.</p>
      {can('WRITE') && <button type="button" className="btn justify-self-start" onClick={() => setAsking(true)}><Trash2 aria-hidden />Remove suppression</button>}
      {asking && <ConfirmDialog title={`Allow emails to ${s.email ?? 'this address'} again?`} label="Remove suppression" danger onClose={() => setAsking(false)} run={remove}><p>{look.before}</p></ConfirmDialog>}
    </div>
  )
}
