import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Ban, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useGraph } from '@/api/graphql'
import { done, rest } from '@/api/rest'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { Badge } from '@/parts/Badge'
import { Confirm } from '@/parts/Confirm'
import { CopyButton, Id } from '@/parts/Copy'
import { EmptyState } from '@/parts/EmptyState'
import { Failure } from '@/parts/Failure'
import { Fact, Facts } from '@/parts/Page'
import { SkeletonText } from '@/parts/Skeleton'
import { Time } from '@/parts/Time'
import { erased, reasons } from './look'
import { SuppressionDetail, SuppressionList } from './queries.gen'

// SuppressionView is one suppression: why, since when, because of which email.
export function SuppressionView({ id, removed }: { id: string; removed: () => void }) {
  const { can, has } = useViewer()
  const queries = useQueryClient()
  const [asking, setAsking] = useState(false)
  const detail = useGraph(SuppressionDetail, { id })
  const s = detail.data?.suppression
  if (detail.error && !s) return <div className="p-5"><Failure error={detail.error} retry={() => void detail.refetch()} /></div>
  if (detail.isPending) return <div className="p-5"><SkeletonText /></div>
  if (!s) return <EmptyState icon={Ban} title="Not suppressed">There is no such suppression: it was removed, or never was.</EmptyState>
  const look = reasons[s.reason]
  async function remove() {
    await done(rest.DELETE('/suppressions/{id}', { params: { path: { id } } }))
    void queries.invalidateQueries({ queryKey: [SuppressionList.name] })
    toast.ok(`${s?.email ?? 'The address'} may be written to again`)
    removed()
  }
  return (
    <div className="grid gap-5 p-4 md:p-5">
      <div className="grid gap-2">
        <p className="flex min-w-0 items-center gap-1 text-lg font-medium"><span className="min-w-0 wrap-anywhere">{s.email ?? erased}</span>{s.email && <CopyButton text={s.email} label="Copy the address" />}</p>
        <p className="flex flex-wrap items-center gap-2 text-ink-2"><Badge tone={look.tone} icon={look.icon}>{look.word}</Badge>{look.means}</p>
      </div>
      <Facts>
        <Fact name="Id"><Id id={s.id} /></Fact>
        <Fact name="Since"><Time at={s.createdAt} exact /></Fact>
        <Fact name="Because of">{s.emailId && (has('sending') ? <Link to={`/emails/${s.emailId}`} className="link wrap-anywhere">{s.emailId}</Link> : s.emailId)}</Fact>
      </Facts>
      <p className="text-ink-2">An email with this recipient is not sent to anybody.</p>
      {can('WRITE') && <button type="button" className="btn justify-self-start" onClick={() => setAsking(true)}><Trash2 aria-hidden />Remove the suppression</button>}
      {asking && <Confirm title={`Write to ${s.email ?? 'this address'} again?`} label="Remove the suppression" danger onClose={() => setAsking(false)} run={remove}><p>{look.before}</p></Confirm>}
    </div>
  )
}
