import { useQuery } from '@tanstack/react-query'
import { Check, CircleAlert, CircleHelp, TriangleAlert, Upload } from 'lucide-react'
import type { ReactNode } from 'react'
import { rest, unwrap } from '@/api/rest'
import type { components } from '@/api/rest.gen'
import { Badge } from '@/parts/Badge'
import { CopyButton } from '@/parts/CopyButton'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { ForeignText } from '@/parts/ForeignText'
import { Card, Detail, DetailList } from '@/parts/Page'
import { SkeletonText } from '@/parts/Skeleton'
import { Time } from '@/parts/Time'
import { Grid } from '@/screens/operator/Grid'
import { count, percent, seconds } from '@/screens/statistics/figures'
import type { Look } from './look'

export type Report = components['schemas']['DeliverabilityRecord']
type State = Report['requirements'][number]['state']

const states: Record<State, Omit<Look, 'means'>> = {
  met: { word: 'Met', tone: 'ok', icon: Check },
  close: { word: 'Close to the limit', tone: 'warn', icon: TriangleAlert },
  broken: { word: 'Not met', tone: 'bad', icon: CircleAlert },
  unknown: { word: 'Not enough data', tone: 'quiet', icon: CircleHelp },
}

const grades: Record<Report['grade'], Look> = {
  good: { word: 'Good', tone: 'ok', icon: Check, means: 'All requirements with enough data are met.' },
  fair: { word: 'Fair', tone: 'warn', icon: TriangleAlert, means: 'A requirement is close to its limit.' },
  poor: { word: 'Poor', tone: 'bad', icon: CircleAlert, means: 'A requirement isn’t met, so mailbox providers may refuse or filter your mail.' },
  unknown: { word: 'Not enough data', tone: 'quiet', icon: CircleHelp, means: 'There are too few DMARC reports to grade the domain.' },
}

const requirementNames: Record<string, string> = {
  spf: 'SPF record', dkim: 'DKIM record', dmarc: 'DMARC record', alignment: 'Mail passes DMARC', complaints: 'Complaint rate', bounces: 'Bounce rate', ptr: 'Reverse DNS of source addresses', tls: 'TLS', unsubscribe: 'One-click unsubscribe',
}

const verdicts: Record<Report['advice']['verdict'], string> = {
  wait: 'Not enough evidence yet', fix: 'Authenticate your sources first', quarantine: 'p=quarantine is safe', reject: 'p=reject is safe', keep: 'Keep the current policy',
}

const share = (part: number, whole: number) => (whole === 0 ? '' : percent(part / whole))

// Deliverability shows what receivers think of a domain's mail.
export function Deliverability({ id, publish }: { id: string; publish?: (dmarc: string) => void }) {
  const read = useQuery({ queryKey: ['deliverability', id], queryFn: () => unwrap(rest.GET('/domains/{id}/deliverability', { params: { path: { id } } })) })
  if (read.error) return <ErrorAlert error={read.error} retry={() => void read.refetch()} />
  if (read.isPending) return <SkeletonText lines={8} />
  return <DeliverabilityView report={read.data.deliverability} publish={publish} />
}

export function DeliverabilityView({ report: r, publish }: { report: Report; publish?: (dmarc: string) => void }) {
  return (
    <>
      <Degradations report={r} />
      <Requirements report={r} />
      <Policy report={r} publish={publish} />
      <Blocklists report={r} />
      <Sources report={r} />
      {r.receivers.length > 0 && (
        <Card title="Receivers" padded={false} footer="Each report was sent by the domain shown. Its figures are the receiver’s own.">
          <Grid label="Messages by receiver" heads={['Receiver', 'Messages', 'Pass DMARC', 'DKIM', 'SPF', 'Quarantined', 'Rejected']} right={[1, 2, 3, 4, 5, 6]}>
            {r.receivers.map((v) => [<ForeignText key="name" text={v.receiver} />, count(v.messages), share(v.dmarc, v.messages), share(v.dkim, v.messages), share(v.spf, v.messages), count(v.quarantined), count(v.rejected)])}
          </Grid>
        </Card>
      )}
      {r.placement.length > 0 && (
        <Card title="Delivery by mailbox provider" padded={false} footer="Last 7 days; the week before in parentheses.">
          <Grid label="Delivery by mailbox provider" heads={['Provider', 'Recipients', 'Delivered', 'Deferred', 'Bounced', 'Complaints', 'Median time']} right={[1, 2, 3, 4, 5, 6]}>
            {r.placement.map((p) => {
              const [now, old] = [p.last_7_days, p.previous_7_days]
              const compare = (of: (c: typeof now) => number) => <>{share(of(now), now.recipients)} <span className="text-ink-3">({share(of(old), old.recipients) || 'none'})</span></>
              return [<span key="name" title={p.recipient_domains.join(', ')}><ForeignText text={p.provider} /></span>, <>{count(now.recipients)} <span className="text-ink-3">({count(old.recipients)})</span></>, compare((c) => c.delivered), compare((c) => c.delayed), compare((c) => c.bounced), compare((c) => c.complained), <>{median(now)} <span className="text-ink-3">({median(old)})</span></>]
            })}
          </Grid>
          <Causes placement={r.placement} />
        </Card>
      )}
      <Bimi report={r} />
      <Tls report={r} />
      <Reporting report={r} />
      <FeedbackLoops report={r} />
    </>
  )
}

const median = (c: { median_seconds: number | null }) => (c.median_seconds === null ? 'none' : seconds(c.median_seconds))

// Causes shows the replies that refused or deferred mail.
function Causes({ placement }: { placement: Report['placement'] }) {
  const causes = placement.flatMap((p) => p.causes.map((c) => ({ provider: p.provider, ...c })))
  if (causes.length === 0) return null
  return (
    <ul className="grid divide-y divide-line-soft border-t border-line-soft">
      {causes.map((c) => (
        <li key={`${c.provider} ${c.cause}`} className="grid min-w-0 gap-1 px-4 py-3">
          <p className="flex flex-wrap items-center gap-2"><b className="font-medium"><ForeignText text={c.provider} /></b><span className="text-ink-2">{c.reason}</span><span className="text-xs text-ink-3">{count(c.recipients)} {c.recipients === 1 ? 'recipient' : 'recipients'}</span></p>
          {c.reply && <p className="smtp bad"><ForeignText text={c.reply} /></p>}
          <p><b className="font-medium">Fix:</b> {c.fix}</p>
        </li>
      ))}
    </ul>
  )
}

function Requirements({ report: r }: { report: Report }) {
  const grade = grades[r.grade]
  return (
    <Card title="Requirements of mailbox providers" actions={<Badge tone={grade.tone} icon={grade.icon}>{grade.word}</Badge>} padded={false}>
      <p className="px-4 pt-3 text-ink-2">{grade.means} From {r.since} to {r.until}.</p>
      <ul className="grid divide-y divide-line-soft">
        {r.requirements.map((q) => {
          const look = states[q.state]
          return (
            <li key={q.code} className="grid min-w-0 gap-1 px-4 py-3">
              <p className="flex flex-wrap items-center gap-2"><b className="font-medium">{requirementNames[q.code] ?? q.code}</b><Badge tone={look.tone} icon={look.icon}>{look.word}</Badge><span className="text-xs text-ink-3">{q.providers.join(', ')} since {q.since}</span></p>
              <p className="text-ink-2 wrap-anywhere">{q.found}</p>
              {q.fix && <p className="wrap-anywhere"><b className="font-medium">Fix:</b> {q.fix}</p>}
            </li>
          )
        })}
      </ul>
    </Card>
  )
}

const bimiNames: Record<Report['bimi'][number]['code'], string> = {
  record: 'DNS record', dmarc: 'DMARC policy', logo: 'Logo file', logo_profile: 'SVG profile', logo_shape: 'Shape', logo_title: 'Title', logo_content: 'Content of the logo', certificate: 'Mark certificate', certificate_issuers: 'Issuers', certificate_validity: 'Validity', certificate_domain: 'Domain in the certificate', certificate_logo: 'Logo in the certificate',
}

function Bimi({ report: { bimi } }: { report: Report }) {
  if (bimi.length === 0) return null
  return (
    <Card title="Logo next to your mail (BIMI)" padded={false} footer="As of the last DNS check. Mailbox providers decide whether they show the logo.">
      <ul className="grid divide-y divide-line-soft">
        {bimi.map((f) => {
          const look = f.state === 'close' ? { ...states.close, word: 'Not enough for all providers' } : f.state === 'unknown' ? { ...states.unknown, word: 'Not checked' } : states[f.state]
          return (
            <li key={f.code} className="grid min-w-0 gap-1 px-4 py-3">
              <p className="flex flex-wrap items-center gap-2"><b className="font-medium">{bimiNames[f.code]}</b><Badge tone={look.tone} icon={look.icon}>{look.word}</Badge></p>
              <p className="text-ink-2 wrap-anywhere"><ForeignText text={f.found} /></p>
              {f.fix && <p className="wrap-anywhere"><b className="font-medium">Fix:</b> {f.fix}</p>}
            </li>
          )
        })}
      </ul>
    </Card>
  )
}

function Degradations({ report: { degradations } }: { report: Report }) {
  if (degradations.length === 0) return null
  return (
    <Card title="Problems at mailbox providers" padded={false} footer="The figures cover the 24 hours before the problem was found.">
      <ul className="grid divide-y divide-line-soft">
        {degradations.map((d) => (
          <li key={`${d.provider} ${d.problem}`} className="grid min-w-0 gap-1 px-4 py-3">
            <p className="flex flex-wrap items-center gap-2"><b className="font-medium"><ForeignText text={d.provider} /> {d.problem === 'refused' ? 'refuses your mail' : 'defers your mail'}</b><Badge tone="bad" icon={CircleAlert}>{share(d.affected, d.recipients)} of {count(d.recipients)} recipients</Badge><span className="text-xs text-ink-3">{percent(d.previous_share)} in the week before, found <Time at={d.since} /></span></p>
            <p className="text-ink-2">Likely cause: {d.reason}</p>
            {d.reply && <p className="smtp bad"><ForeignText text={d.reply} /></p>}
            <p><b className="font-medium">Fix:</b> {d.fix}</p>
          </li>
        ))}
      </ul>
    </Card>
  )
}

const listings: Record<Report['blocklists'][number]['status'], Omit<Look, 'means'>> = {
  listed: { word: 'Listed', tone: 'bad', icon: CircleAlert },
  clear: { word: 'Not listed', tone: 'ok', icon: Check },
  refused: { word: 'No answer for us', tone: 'warn', icon: TriangleAlert },
  broken: { word: 'Wrong answer', tone: 'warn', icon: TriangleAlert },
  unknown: { word: 'No answer', tone: 'quiet', icon: CircleHelp },
}

function Blocklists({ report: { blocklists } }: { report: Report }) {
  if (blocklists.length === 0) return null
  return (
    <Card title="Blocklists" padded={false} footer="Your administrator chooses the lists.">
      <ul className="grid divide-y divide-line-soft">
        {blocklists.map((l) => {
          const look = listings[l.status]
          return (
            <li key={`${l.subject} ${l.list}`} className="grid min-w-0 gap-1 px-4 py-3">
              <p className="flex flex-wrap items-center gap-2"><code className="wrap-anywhere">{l.subject}</code><Badge tone={look.tone} icon={look.icon}>{look.word}</Badge><span className="text-xs text-ink-3">{l.list}, checked <Time at={l.checked_at} />{l.listed_since && <>, listed since <Time at={l.listed_since} /></>}</span></p>
              {l.fix && <p className="wrap-anywhere">{l.found} <b className="font-medium">Fix:</b> {l.fix}{l.page && <> <a className="link" href={l.page} target="_blank" rel="noreferrer">View {l.list}</a></>}</p>}
            </li>
          )
        })}
      </ul>
    </Card>
  )
}

function FeedbackLoops({ report: { feedback_loops: loops } }: { report: Report }) {
  return (
    <Card title="Complaint reports of mailbox providers" padded={false} footer="Complaints counted in the last 14 days. Registration is free.">
      <ul className="grid divide-y divide-line-soft">
        {loops.map((f) => (
          <li key={f.name} className="grid min-w-0 gap-1 px-4 py-3">
            <p className="flex flex-wrap items-center gap-2"><b className="font-medium">{f.provider}: {f.name}</b><span className="text-xs text-ink-3">{f.complaints === 0 ? 'No complaints' : `${count(f.complaints)} ${f.complaints === 1 ? 'complaint' : 'complaints'}`}</span></p>
            <p className="text-ink-2">{f.about}</p>
            <p>{f.fix} <a className="link" href={f.page} target="_blank" rel="noreferrer">Open {f.name}</a></p>
          </li>
        ))}
      </ul>
    </Card>
  )
}

function Policy({ report: { advice }, publish }: { report: Report; publish?: (dmarc: string) => void }) {
  const { record } = advice
  return (
    <Card title="DMARC policy" actions={record && publish && <button type="button" className="btn" onClick={() => publish(record)}><Upload aria-hidden />Publish to DNS provider</button>}>
      <div className="grid gap-2">
        <p><b className="font-medium">{verdicts[advice.verdict]}</b><span className="text-ink-3">{advice.policy ? `. Published: p=${advice.policy}.` : '. No DMARC record found.'}</span></p>
        <p className="max-w-[720px] text-ink-2">{advice.reason}</p>
        {record && <Copyable name="Publish this record" text={record} />}
      </div>
    </Card>
  )
}

function Sources({ report: r }: { report: Report }) {
  return (
    <Card title={`Servers that send as ${r.domain}`} padded={false} footer="At risk: mail that looks wanted but fails DMARC. A stricter policy could lose it.">
      {r.sources.length === 0
        ? <p className="p-4 text-ink-3">No DMARC reports yet. The first ones arrive within two days after you publish the record with the report address below.</p>
        : (
          <Grid label="Messages by server" heads={['Server', 'Messages', 'Pass DMARC', 'At risk']} right={[1, 2, 3]}>
            {r.sources.map((s) => [
              <Server key="server" address={s.address} name={s.name} service={s.service} ours={s.ours} />, count(s.messages), share(s.dmarc, s.messages), s.at_risk === 0 ? '0' : <span key="risk" className="text-warn">{count(s.at_risk)}</span>,
            ])}
          </Grid>
        )}
    </Card>
  )
}

function Server({ address, name, service, ours }: { address: string; name: string | null; service: string | null; ours: boolean }) {
  return (
    <div className="grid min-w-0">
      <span className="flex flex-wrap items-center gap-2"><code className="wrap-anywhere">{address}</code>{ours ? <Badge tone="ok">Postrider</Badge> : service && <Badge>{service}</Badge>}</span>
      {name && <span className="text-xs text-ink-3 wrap-anywhere"><ForeignText text={name} /></span>}
    </div>
  )
}

function Tls({ report: { tls, domain } }: { report: Report }) {
  const sessions = (v: { succeeded: number; failed: number }) => [count(v.succeeded), v.failed === 0 ? '0' : <span key="failed" className="text-warn">{count(v.failed)}</span>]
  if (tls.reports === 0) {
    return (
      <Card title="TLS of incoming mail">
        <p className="text-ink-3">No TLS reports yet. If {domain} receives mail here, publish the optional TLS reports record on the DNS records tab. The first reports arrive within two days.</p>
      </Card>
    )
  }
  return (
    <Card title="TLS of incoming mail" padded={false} footer="Senders report how many of their SMTP sessions used TLS. The figures are their own.">
      <p className="px-4 py-3 text-ink-2">{count(tls.succeeded)} sessions succeeded, {count(tls.failed)} failed, in {count(tls.reports)} {tls.reports === 1 ? 'report' : 'reports'}.</p>
      {tls.failures.length > 0 && (
        <ul className="grid divide-y divide-line-soft border-t border-line-soft">
          {tls.failures.map((f) => (
            <li key={`${f.type} ${f.policy}`} className="grid min-w-0 gap-1 px-4 py-3">
              <p className="flex flex-wrap items-center gap-2"><b className="font-medium">{f.reason}</b><Badge tone="bad" icon={CircleAlert}>{count(f.sessions)} {f.sessions === 1 ? 'session' : 'sessions'}</Badge><span className="text-xs text-ink-3">{f.type}, {tlsPolicies[f.policy]}</span></p>
              <p className="wrap-anywhere"><b className="font-medium">Fix:</b> {f.fix}</p>
            </li>
          ))}
        </ul>
      )}
      <Grid label="TLS sessions by organization" heads={['Organization', 'Succeeded', 'Failed']} right={[1, 2]}>
        {tls.receivers.map((v) => [<div key="name" className="grid min-w-0"><ForeignText text={v.receiver} />{v.organization && <span className="text-xs text-ink-3 wrap-anywhere"><ForeignText text={v.organization} /></span>}</div>, ...sessions(v)])}
      </Grid>
      <Grid label="TLS sessions by day" heads={['Day', 'Succeeded', 'Failed']} right={[1, 2]}>
        {tls.days.toReversed().map((v) => [v.day, ...sessions(v)])}
      </Grid>
    </Card>
  )
}

const tlsPolicies: Record<Report['tls']['failures'][number]['policy'], string> = { sts: 'MTA-STS', tlsa: 'DANE', 'no-policy-found': 'no policy', other: 'another policy' }

const authorizations: Record<Report['reporting']['authorization']['status'], ReactNode> = {
  verified: 'Published: receivers may send reports to this address.',
  missing: 'Not found. Without this record, receivers send no reports. Ask your administrator to publish it:',
  unknown: 'DNS didn’t answer. Try again later.',
}

function Reporting({ report: { reporting } }: { report: Report }) {
  const { authorization } = reporting
  return (
    <Card title="DMARC reports">
      <DetailList>
        <Detail name="Report address"><Copyable text={reporting.address} /></Detail>
        <Detail name="Authorization">{authorizations[authorization.status]}{authorization.status === 'missing' && <Copyable text={`${authorization.name} TXT "${authorization.value}"`} />}</Detail>
        <Detail name="Received">{reporting.reports === 0 ? 'No reports' : <>{count(reporting.reports)}{reporting.last_report_at && <>, the last one <Time at={reporting.last_report_at} /></>}</>}</Detail>
        <Detail name="Refused">{reporting.refused.length > 0 && reporting.refused.map((f) => `${f.reason} (${count(f.messages)})`).join(', ')}</Detail>
      </DetailList>
    </Card>
  )
}

function Copyable({ name, text }: { name?: string; text: string }) {
  return <span className="flex min-w-0 items-start gap-0.5">{name && <span className="flex-none text-ink-3">{name}:&nbsp;</span>}<code className="min-w-0 text-xs wrap-anywhere">{text}</code><CopyButton text={text} label={`Copy ${name?.toLowerCase() ?? text}`} /></span>
}
