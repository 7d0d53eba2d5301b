import { Check, Clock, History, KeyRound, RotateCw, type LucideIcon } from 'lucide-react'
import { useState } from 'react'
import { unwrap, newIdempotencyKey, rest } from '@/api/rest'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { Badge, type Tone } from '@/parts/Badge'
import { ConfirmDialog } from '@/parts/ConfirmDialog'
import { CopyButton } from '@/parts/CopyButton'
import { EmptyState } from '@/parts/EmptyState'
import { Card } from '@/parts/Page'
import { Time } from '@/parts/Time'
import type { Domain } from './Page'

const looks: Record<string, { word: string; tone: Tone; icon: LucideIcon }> = {
  active: { word: 'Active', tone: 'ok', icon: Check },
  pending: { word: 'Waiting for DNS record', tone: 'warn', icon: Clock },
  retired: { word: 'Retired', tone: 'quiet', icon: History },
}

export function Keys({ domain, read }: { domain: Domain; read: () => Promise<unknown> }) {
  const { can } = useViewer()
  const [asking, setAsking] = useState<string>()
  const waits = domain.dkimKeys.find((k) => k.status === 'pending')

  async function rotate() {
    await unwrap(rest.POST('/domains/{id}/dkim/rotate', { params: { path: { id: domain.id }, header: { 'Idempotency-Key': asking } } }))
    await read()
    toast.success('New key created. Publish its record, then verify.')
  }
  const act = can('DEFINE') && !waits ? <button type="button" className="btn sm" onClick={() => setAsking(newIdempotencyKey())}><RotateCw aria-hidden />Rotate key</button> : undefined
  return (
    <Card title="DKIM keys" actions={act} padded={false} footer={waits && <span className="py-1.5">The key <code>{waits.selector}</code> is waiting for its DNS record. Publish it (DNS records tab), then verify. Until then, mail is signed with the current key.</span>}>
      {domain.dkimKeys.length === 0 ? <EmptyState icon={KeyRound} title="No keys yet">Verify the domain to create one.</EmptyState> : (
        <div className="overflow-x-auto">
          <table aria-label="DKIM keys" className="w-full min-w-[640px] border-collapse text-left">
            <thead>
              <tr className="h-8 border-b border-line text-xs text-ink-3">{['Selector', 'Status', 'Algorithm', 'Record', 'Created', 'In use'].map((h) => <th key={h} scope="col" className="px-2 font-medium first:pl-4 last:pr-4">{h}</th>)}</tr>
            </thead>
            <tbody>
              {domain.dkimKeys.map((k) => {
                const look = looks[k.status] ?? { word: k.status, tone: 'quiet' as const, icon: Clock }
                return (
                  <tr key={k.selector} className="h-10 border-b border-line-soft last:border-0">
                    <td className="px-2 pl-4 whitespace-nowrap"><code>{k.selector}</code><CopyButton text={k.selector} label={`Copy selector ${k.selector}`} /></td>
                    <td className="px-2"><Badge tone={look.tone} icon={look.icon}>{look.word}</Badge></td>
                    <td className="px-2 text-ink-2">{k.algorithm}</td>
                    <td className="px-2 text-ink-2">{k.ready ? 'Found' : 'Not found yet'}</td>
                    <td className="px-2 text-xs text-ink-3"><Time at={k.createdAt} /></td>
                    <td className="px-2 pr-4 text-xs text-ink-3">
                      {k.activatedAt ? <>from <Time at={k.activatedAt} /></> : 'not yet'}
                      {k.retiredAt && <> to <Time at={k.retiredAt} /></>}
                      {k.keepUntil && <span className="block">keep its record until <Time at={k.keepUntil} exact /></span>}
                    </td>
                  </tr>
                )
              })}
            </tbody>
          </table>
        </div>
      )}
      {asking && (
        <ConfirmDialog title="Rotate the DKIM key?" label="Create new key" onClose={() => setAsking(undefined)} run={rotate}>
          <p>You get a new record to publish. Mail is signed with the current key until the new record is found, so nothing is interrupted.</p>
        </ConfirmDialog>
      )}
    </Card>
  )
}
