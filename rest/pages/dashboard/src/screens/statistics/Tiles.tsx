import { Link } from '@tanstack/react-router'
import { CircleAlert, CircleCheck, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { changeOf, count, percent, seconds, shareOf, verdictOnBounces, verdictOnComplaints, type Figures, type Verdict } from './figures'
import { emailsOf, searchTerm, type Choice } from './range'

const icons = { ok: CircleCheck, warn: TriangleAlert, bad: CircleAlert, info: CircleCheck, quiet: CircleCheck }
const inks = { ok: 'text-ok', warn: 'text-warn', bad: 'text-bad', info: 'text-accent', quiet: 'text-ink-3' }

type Rate = (f: Figures) => number | null

const part = (n: number, whole: number) => (whole > 0 ? n / whole : null)

// Tiles shows the totals of the range, rated by the limits of mailbox providers and compared with the previous period.
// Rates of delivery are shares of recipients; rates of reactions are shares of delivered emails.
export function Tiles({ totals: f, previous, choice }: { totals: Figures; previous: Figures | undefined; choice: Choice }) {
  const to = (more?: string) => (searchTerm(choice.only) === undefined ? undefined : emailsOf(choice, choice.gte, choice.lt, more))
  const change = (rate: Rate) => changeOf(rate(f), previous && rate(previous))
  const tile = (name: string, rate: Rate, about: string, more?: string, verdict?: Verdict | null) => <Tile name={name} value={percent(rate(f))} change={change(rate)} search={more ? to(more) : undefined} about={about} verdict={verdict} />
  return (
    <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-card border border-line bg-line lg:grid-cols-4">
      {tile('Delivered', (x) => part(x.delivered, x.recipients), `${count(f.delivered)} of ${count(f.recipients)} recipients`, 'is:delivered')}
      {tile('Bounced', (x) => shareOf(x.bounceRate), `${count(f.bounced)} of ${count(f.recipients)} recipients`, 'is:bounced', verdictOnBounces(shareOf(f.bounceRate)))}
      {tile('Complained', (x) => shareOf(x.complaintRate), `${count(f.complained)} of ${count(f.delivered)} delivered`, undefined, verdictOnComplaints(f.complaintRate))}
      <Tile name="Latency, p50" value={f.latency ? seconds(f.latency.p50) : '–'} about={f.latency ? `p95 ${seconds(f.latency.p95)}, from acceptance to delivery` : 'No deliveries yet'} />
      {tile('Opened', (x) => part(x.opened, x.delivered), `${count(f.opened)} of ${count(f.delivered)} delivered`, 'is:opened')}
      {tile('Clicked', (x) => part(x.clicked, x.delivered), `${count(f.clicked)} of ${count(f.delivered)} delivered`, 'is:clicked')}
      {tile('Unsubscribed', (x) => part(x.unsubscribed, x.delivered), `${count(f.unsubscribed)} of ${count(f.delivered)} delivered`)}
      {tile('Failed or blocked', (x) => part(x.failed + x.suppressed, x.recipients), `${count(f.failed)} failed, ${count(f.suppressed)} blocked by suppressions, ${count(f.delayed)} delayed`, 'is:failed')}
    </dl>
  )
}

// Tile is one figure of a period.
export function Tile({ name, value, about, change, verdict, search }: { name: string; value: ReactNode; about: string; change?: string; verdict?: Verdict | null; search?: { q: string } }) {
  const Icon = verdict ? icons[verdict.tone] : null
  return (
    <div className="grid min-w-0 content-start gap-0.5 bg-surface p-3 md:p-4">
      <dt className="text-xs text-ink-3">{name}</dt>
      <dd className="text-2xl font-semibold">{search ? <Link to="/emails" search={search as never} preload={false} className="hover:text-accent hover:underline hover:decoration-1 hover:underline-offset-4" title="View these emails">{value}</Link> : value}</dd>
      <dd className="text-xs text-ink-2">{about}</dd>
      {change && <dd className="text-xs text-ink-3" title="Compared with the previous period of the same length">{change === 'No change' ? change : `${change} than before`}</dd>}
      {verdict && Icon && <dd className={`flex items-start gap-1 text-xs ${inks[verdict.tone]}`}><Icon aria-hidden className="mt-px !size-3.5" />{verdict.words}</dd>}
    </div>
  )
}
