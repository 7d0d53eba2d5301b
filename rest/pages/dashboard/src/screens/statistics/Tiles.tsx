import { Link } from '@tanstack/react-router'
import { CircleAlert, CircleCheck, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { count, percent, seconds, shareOf, verdictOnBounces, verdictOnComplaints, type Figures, type Verdict } from './figures'
import { emailsOf, searchTerm, type Choice } from './range'

const icons = { ok: CircleCheck, warn: TriangleAlert, bad: CircleAlert, info: CircleCheck, quiet: CircleCheck }
const many = (n: number) => `${count(n)} ${n === 1 ? 'email' : 'emails'}`
const inks = { ok: 'text-ok', warn: 'text-warn', bad: 'text-bad', info: 'text-accent', quiet: 'text-ink-3' }

// Tiles shows the totals of the range, rated by the limits of mailbox providers.
export function Tiles({ totals: f, choice }: { totals: Figures; choice: Choice }) {
  const to = (more?: string) => (searchTerm(choice.only) === undefined ? undefined : emailsOf(choice, choice.gte, choice.lt, more))
  const of = (n: number, whole: number) => percent(whole > 0 ? n / whole : null)
  return (
    <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-card border border-line bg-line lg:grid-cols-4">
      <Tile name="Delivered" value={count(f.delivered)} search={to('is:delivered')} about={`${of(f.delivered, f.recipients)} of ${count(f.recipients)} recipients`} />
      <Tile name="Bounced" value={percent(shareOf(f.bounceRate))} search={to('is:bounced')} about={`${count(f.bounced)} of ${count(f.recipients)} recipients`} verdict={verdictOnBounces(shareOf(f.bounceRate))} />
      <Tile name="Complained" value={percent(shareOf(f.complaintRate))} about={`${count(f.complained)} of ${count(f.delivered)} delivered`} verdict={verdictOnComplaints(f.complaintRate)} />
      <Tile name="Latency, p50" value={f.latency ? seconds(f.latency.p50) : '–'} about={f.latency ? `p95 ${seconds(f.latency.p95)}, from acceptance to delivery` : 'No deliveries yet'} />
      <Tile name="Opened" value={of(f.opened, f.delivered)} search={to('is:opened')} about={many(f.opened)} />
      <Tile name="Clicked" value={of(f.clicked, f.delivered)} search={to('is:clicked')} about={many(f.clicked)} />
      <Tile name="Unsubscribed" value={count(f.unsubscribed)} about={of(f.unsubscribed, f.delivered)} />
      <Tile name="Failed or blocked" value={count(f.failed + f.suppressed)} search={to('is:failed')} about={`${count(f.failed)} failed, ${count(f.suppressed)} blocked by suppressions, ${count(f.delayed)} delayed`} />
    </dl>
  )
}

function Tile({ name, value, about, verdict, search }: { name: string; value: ReactNode; about: string; verdict?: Verdict | null; search?: { q: string } }) {
  const Icon = verdict ? icons[verdict.tone] : null
  return (
    <div className="grid min-w-0 content-start gap-0.5 bg-surface p-3 md:p-4">
      <dt className="text-xs text-ink-3">{name}</dt>
      <dd className="text-2xl font-semibold">{search ? <Link to="/emails" search={search as never} preload={false} className="hover:text-accent hover:underline hover:decoration-1 hover:underline-offset-4" title="View these emails">{value}</Link> : value}</dd>
      <dd className="text-xs text-ink-2">{about}</dd>
      {verdict && Icon && <dd className={`flex items-start gap-1 text-xs ${inks[verdict.tone]}`}><Icon aria-hidden className="mt-px !size-3.5" />{verdict.words}</dd>}
    </div>
  )
}
