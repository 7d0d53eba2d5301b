import { CircleAlert, CircleCheck, TriangleAlert } from 'lucide-react'
import { Badge } from '@/parts/Badge'
import { Card } from '@/parts/Page'
import { formatBytes } from '@/parts/file'
import { count, dayOf } from './money'
import type { UsageNowQuery } from './queries.gen'

// Meter shows this month's emails, the limit, and the projection for the end of the month.
export function Meter({ usage: u, account }: { usage: UsageNowQuery['usage']; account: UsageNowQuery['account'] }) {
  const cap = u.limit ?? u.included
  const share = cap ? u.emails / cap : 0
  const ahead = cap && u.projected !== null ? u.projected / cap : 0
  return (
    <Card title="This month" actions={<span className="text-xs text-ink-3">Resets on {dayOf(account.usage.monthResetsAt)} (UTC)</span>}>
      <div className="grid gap-4">
        <div className="flex flex-wrap items-end gap-x-8 gap-y-3">
          <Figure name="Emails sent" value={count(u.emails)} about={cap ? `of ${count(cap)} ${u.limit === null ? 'included' : 'allowed'}` : 'unlimited'} />
          {u.projected !== null && <Figure name="Month-end estimate" value={count(u.projected)} about="based on the last 7 days" />}
          {u.included !== null && <Figure name="Beyond the included emails" value={count(u.over)} about={`${count(u.included)} are included in the price`} />}
          {account.usage.dailyCap !== null && <Figure name="Today" value={count(account.usage.day ?? 0)} about={`of ${count(account.usage.dailyCap)} per day`} />}
          {account.usage.storedBytes !== null && <Figure name="Stored data" value={formatBytes(account.usage.storedBytes)} about={account.usage.storedBytesCap === null ? 'unlimited' : `of ${formatBytes(account.usage.storedBytesCap)}`} />}
          {account.usage.dailyBytes !== null && account.usage.dailyBytesCap !== null && <Figure name="Stored today" value={formatBytes(account.usage.dailyBytes)} about={`of ${formatBytes(account.usage.dailyBytesCap)} per day`} />}
        </div>
        {cap !== null && cap > 0 && (
          <div className="grid gap-1.5">
            <div role="meter" aria-label="Emails this month" aria-valuemin={0} aria-valuemax={cap} aria-valuenow={Math.min(u.emails, cap)} aria-valuetext={`${count(u.emails)} of ${count(cap)}`} className="relative h-2.5 overflow-hidden rounded-full bg-press">
              <div className="absolute inset-y-0 left-0 bg-info-mark opacity-30" style={{ width: `${Math.min(100, ahead * 100)}%` }} />
              <div className={`absolute inset-y-0 left-0 ${share >= 1 ? 'bg-bad-mark' : share >= 0.8 ? 'bg-warn-mark' : 'bg-info-mark'}`} style={{ width: `${Math.min(100, share * 100)}%` }} />
            </div>
            <Outlook share={share} ahead={ahead} refused={u.limit !== null} />
          </div>
        )}
        <Days periods={u.periods} />
      </div>
    </Card>
  )
}

function Outlook({ share, ahead, refused }: { share: number; ahead: number; refused: boolean }) {
  const then = refused ? 'further emails are rejected' : 'further emails are charged individually'
  if (share >= 1) return <p><Badge tone={refused ? 'bad' : 'warn'} icon={CircleAlert}>Limit reached</Badge> <span className="text-ink-2">Until the month ends, {then}.</span></p>
  if (ahead >= 1) return <p><Badge tone="warn" icon={TriangleAlert}>Running out</Badge> <span className="text-ink-2">At this pace, the limit is reached before the month ends. Then {then}.</span></p>
  return <p><Badge tone="ok" icon={CircleCheck}>On track</Badge> <span className="text-ink-2">{Math.round(share * 100)} % used.</span></p>
}

function Figure({ name, value, about }: { name: string; value: string; about: string }) {
  return (
    <div>
      <p className="text-xs text-ink-3">{name}</p>
      <p className="text-2xl font-semibold">{value}</p>
      <p className="text-xs text-ink-2">{about}</p>
    </div>
  )
}

function Days({ periods }: { periods: UsageNowQuery['usage']['periods'] }) {
  const most = Math.max(1, ...periods.map((p) => p.emails))
  if (periods.length === 0) return null
  return (
    <div className="grid gap-2">
      <div aria-hidden className="flex h-16 items-end gap-px border-b border-line">
        {periods.map((p) => <div key={p.start} title={`${dayOf(p.start)}: ${count(p.emails)}`} className="flex h-full min-w-0 flex-1 items-end hover:bg-hover"><div className="w-full rounded-t-[2px] bg-info-mark" style={{ height: p.emails > 0 ? `max(2px, ${(p.emails / most) * 100}%)` : 0 }} /></div>)}
      </div>
      <details>
        <summary className="w-fit text-xs text-ink-2">Daily usage</summary>
        <div className="mt-2 max-h-64 overflow-auto" tabIndex={0} role="region" aria-label="Emails by day">
          <table className="w-full max-w-[320px] border-collapse text-left">
            <thead><tr className="text-xs text-ink-3"><th scope="col" className="font-medium">Day (UTC)</th><th scope="col" className="text-right font-medium">Emails</th></tr></thead>
            <tbody>{periods.map((p) => <tr key={p.start} className="border-t border-line-soft"><th scope="row" className="py-1 font-normal">{dayOf(p.start)}</th><td className="text-right">{count(p.emails)}</td></tr>)}</tbody>
          </table>
        </div>
      </details>
    </div>
  )
}
