import { Link, useParams } from '@tanstack/react-router'
import { Check } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { useGraphQL } from '@/api/graphql'
import { unwrap, rest } from '@/api/rest'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { Badge } from '@/parts/Badge'
import { ConfirmDialog } from '@/parts/ConfirmDialog'
import { CopyButton } from '@/parts/CopyButton'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Card, PageBody, PageHead } from '@/parts/Page'
import { SkeletonText } from '@/parts/Skeleton'
import { Time } from '@/parts/Time'
import { lookOfEmail } from '../emails/status'
import { reasons } from '../suppressions/look'
import { AddressEmails, AddressEvents, AddressReceived, AddressSuppression, type AddressSuppressionQuery } from './queries.gen'

// AddressPage shows everything about an address: whether it can receive emails, what was sent to it and came from it.
export default function AddressPage() {
  const { address } = useParams({ strict: false }) as { address: string }
  const { can, has } = useViewer()
  const emails = useGraphQL(AddressEmails, { q: `to:${address}` }, { enabled: has('sending') })
  const suppression = useGraphQL(AddressSuppression, { email: address }, { enabled: has('suppression') && can('READ') })
  const received = useGraphQL(AddressReceived, { email: address }, { enabled: has('inbound') && can('READ') })
  const events = useGraphQL(AddressEvents, { email: address }, { enabled: has('automations') })
  const invalid = !/^[^\s@]+@[^\s@]+$/.test(address)
  return (
    <>
      <PageHead title={<span className="inline-flex max-w-full items-center gap-0.5"><bdi className="truncate">{address}</bdi><CopyButton text={address} label="Copy address" /></span>} />
      <PageBody narrow>
        {invalid && <p className="text-ink-2">This is not an email address.</p>}
        {suppression.data && <Delivery address={address} data={suppression.data} again={() => void suppression.refetch()} />}
        <Section title="Emails" query={emails} count={emails.data?.emails.count} all={{ to: '/emails', search: { q: `to:${address}` } }} none="No emails were sent to this address.">
          {emails.data?.emails.nodes.map((e) => {
            const look = lookOfEmail(e)
            return <Line key={e.id} to={`/emails/${e.id}`} status={<Badge tone={look.tone} icon={look.icon}>{look.word}</Badge>} text={e.subject || 'No subject'} at={e.createdAt} />
          })}
        </Section>
        {has('automations') && (
          <>
            <Section title="Events" query={events} count={events.data?.customEvents.count} all={{ to: '/events', search: { q: `email:${address}` } }} none="No events about this address.">
              {events.data?.customEvents.nodes.map((e) => <Line key={e.id} to={`/events/${e.id}`} text={<code>{e.name}</code>} at={e.createdAt} />)}
            </Section>
            <Section title="Automation runs" query={events} count={events.data?.automationRuns?.count} none="No automation has run for this address.">
              {events.data?.automationRuns?.nodes.map((r) => <Line key={r.id} to={`/automations/runs/${r.id}`} status={<span className="chip">{r.status.toLowerCase()}</span>} text={r.error ?? r.id} at={r.startedAt} />)}
            </Section>
          </>
        )}
        {has('inbound') && can('READ') && (
          <Section title="Received" query={received} count={received.data?.receivedEmails.count} all={{ to: '/received', search: { q: `from:${address}` } }} none="No emails were received from this address.">
            {received.data?.receivedEmails.nodes.map((e) => <Line key={e.id} to={`/received/${e.id}`} text={e.subject || 'No subject'} at={e.receivedAt} />)}
          </Section>
        )}
      </PageBody>
    </>
  )
}

// Delivery shows the suppression and the opt-outs of an address, with what lifts them.
function Delivery({ address, data, again }: { address: string; data: AddressSuppressionQuery; again: () => void }) {
  const { can } = useViewer()
  const [asking, setAsking] = useState<{ title: string; label: string; before: string; remove: () => Promise<unknown> }>()
  const found = data.suppressions.nodes[0]
  const may = can('WRITE')
  return (
    <Card title="Delivery" padded={false}>
      <ul>
        <li className="flex min-h-12 flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2">
          {found ? (
            <>
              <Badge tone={reasons[found.reason].tone} icon={reasons[found.reason].icon}>Suppressed</Badge>
              <span className="min-w-0 max-sm:basis-full sm:flex-1">{reasons[found.reason].means} Since <Time at={found.createdAt} exact />{found.emailId && <>, caused by <Link className="link" to={`/emails/${found.emailId}` as string}>this email</Link></>}.</span>
              {may && <button type="button" className="btn sm" onClick={() => setAsking({ title: `Allow emails to ${address} again?`, label: 'Remove suppression', before: reasons[found.reason].before, remove: () => unwrap(rest.DELETE('/suppressions/{id}', { params: { path: { id: found.id } } })) })}>Remove suppression</button>}
            </>
          ) : (
            <><Badge tone="ok" icon={Check}>Not suppressed</Badge><span className="text-ink-2">Emails can be sent to this address.</span></>
          )}
        </li>
        {data.categoryOptOuts.nodes.map((o) => (
          <li key={o.id} className="flex min-h-12 flex-wrap items-center gap-x-3 gap-y-1 border-t border-line-soft px-4 py-2">
            <Badge tone="warn">Opted out</Badge>
            <span className="min-w-0 flex-1"><b className="font-medium">{o.categoryLabel}</b>, since <Time at={o.createdAt} exact />.</span>
            {may && <button type="button" className="btn sm" onClick={() => setAsking({ title: `Remove the ${o.categoryLabel} opt-out?`, label: 'Remove opt-out', before: 'Only do this if the person asked for it.', remove: () => unwrap(rest.DELETE('/category-opt-outs/{id}', { params: { path: { id: o.id } } })) })}>Remove opt-out</button>}
          </li>
        ))}
      </ul>
      {asking && (
        <ConfirmDialog title={asking.title} label={asking.label} danger onClose={() => setAsking(undefined)} run={async () => { await asking.remove(); again(); toast.success(`${address} can receive these emails again`) }}><p>{asking.before}</p></ConfirmDialog>
      )}
    </Card>
  )
}

interface Query {
  error: unknown
  isLoading: boolean
  refetch: () => unknown
}

function Section({ title, query, count, all, none, children }: { title: string; query: Query; count: { value: number; isExact: boolean } | undefined; all?: { to: string; search: Record<string, string> }; none: string; children: ReactNode[] | undefined }) {
  return (
    <Card title={title} padded={false} actions={count && count.value > 0 && <><span className="text-xs text-ink-3">{count.value.toLocaleString()}{!count.isExact && '+'}</span>{all && <Link to={all.to} search={all.search as never} className="link text-xs">View all</Link>}</>}>
      {query.error ? <div className="p-4"><ErrorAlert error={query.error} retry={() => void query.refetch()} /></div> : query.isLoading ? <div className="p-4"><SkeletonText lines={3} /></div> : children?.length ? <ul>{children}</ul> : <p className="px-4 py-3 text-ink-3">{none}</p>}
    </Card>
  )
}

function Line({ to, status, text, at }: { to: string; status?: ReactNode; text: ReactNode; at: string }) {
  return (
    <li className="border-t border-line-soft first:border-t-0">
      <Link to={to} className="flex min-h-10 items-center gap-3 px-4 py-1.5 hover:bg-hover">
        {status && <span className="w-[104px] flex-none">{status}</span>}
        <bdi className="min-w-0 flex-1 truncate">{text}</bdi>
        <span className="flex-none text-xs text-ink-3"><Time at={at} /></span>
      </Link>
    </li>
  )
}
