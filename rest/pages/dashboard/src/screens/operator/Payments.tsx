import { Link } from '@tanstack/react-router'
import { CircleCheck, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { Badge } from '@/parts/Badge'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Card, PageBody } from '@/parts/Page'
import { SkeletonText } from '@/parts/Skeleton'
import { formatDuration, Time } from '@/parts/Time'
import { useBilling } from './data'

function Figure({ name, value, bad }: { name: string; value: ReactNode; bad?: boolean }) {
  return (
    <div className="card p-4">
      <p className="text-xs text-ink-3">{name}</p>
      <p className={`flex items-center gap-2 text-2xl font-semibold ${bad ? 'text-bad' : ''}`}>{bad && <TriangleAlert aria-label="Needs attention" />}{value}</p>
    </div>
  )
}

// Payments shows the state of the synchronization with the payment provider.
export function Payments() {
  const billing = useBilling(true)
  if (billing.error) return <PageBody><ErrorAlert error={billing.error} retry={() => void billing.refetch()} /></PageBody>
  if (!billing.data) return <PageBody>{billing.isPending && <SkeletonText />}</PageBody>
  const b = billing.data
  return (
    <PageBody narrow>
      <p className="flex flex-wrap items-center gap-2"><Badge tone={b.mode === 'live' ? 'ok' : 'info'} icon={CircleCheck}>{b.mode === 'live' ? 'Live payments' : 'Test payments'}</Badge><span className="text-ink-2">{b.lastEventAt ? <>Last event from the payment provider: <Time at={b.lastEventAt} />.</> : 'The payment provider hasn’t posted an event yet. Check its webhook.'}</span></p>
      <div className="grid grid-cols-2 gap-3 md:grid-cols-3">
        <Figure name="Customers" value={b.customers.toLocaleString()} />
        <Figure name="Overdue" value={b.pastDue.toLocaleString()} bad={b.pastDue > 0} />
        <Figure name="Due for a check" value={b.due.toLocaleString()} />
        <Figure name="Failed checks" value={b.failing.toLocaleString()} bad={b.failing > 0} />
        <Figure name="Usage hours to report" value={b.unreportedHours.toLocaleString()} />
        <Figure name="Oldest unreported hour" value={b.unreportedHours ? formatDuration(b.oldestUnreportedSeconds * 1000) : 'none'} bad={b.oldestUnreportedSeconds > 86_400} />
      </div>
      <Card title="Accounts needing attention" padded={false}>
        {b.problems.length === 0 ? <p className="p-4 text-ink-3">None.</p> : <ul>{b.problems.map((p, i) => <li key={i} className="flex flex-wrap gap-x-3 border-b border-line-soft px-4 py-2 last:border-0"><Link to={`/operator/accounts/${p.accountId}`} className="link"><code>{p.accountId}</code></Link><span className="wrap-anywhere">{p.what}</span></li>)}</ul>}
      </Card>
      <Card title="Rejected usage reports" padded={false}>
        {b.stuck.length === 0 ? <p className="p-4 text-ink-3">None.</p> : <ul>{b.stuck.map((s, i) => <li key={i} className="grid gap-1 border-b border-line-soft px-4 py-2 last:border-0"><span className="flex flex-wrap gap-x-3"><Link to={`/operator/accounts/${s.accountId}`} className="link"><code>{s.accountId}</code></Link><Time at={s.hour} exact /><span>{s.emails.toLocaleString()} emails</span></span><p className="smtp bad">{s.reason}</p></li>)}</ul>}
      </Card>
    </PageBody>
  )
}
