import { useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { useGraphQL } from '@/api/graphql'
import { useLive } from '@/api/live'
import { useViewer } from '@/app/viewer'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Card, PageBody, PageHead } from '@/parts/Page'
import { SkeletonText } from '@/parts/Skeleton'
import { Attention, Installation } from './Attention'
import { Checklist } from './Checklist'
import { Figures, useFigures } from './Figures'
import { Happening } from './Happening'
import { StartBounced, StartDomains, StartEmails, StartWebhooks } from './queries.gen'
import { SendOne } from './SendOne'

export default function Start() {
  const { can, has, development } = useViewer()
  const queries = useQueryClient()
  const emails = useGraphQL(StartEmails, {}, { enabled: has('sending') && can('READ_SENT') })
  const bounced = useGraphQL(StartBounced, {}, { enabled: has('sending') && can('READ_SENT') && development !== null })
  const domains = useGraphQL(StartDomains, {}, { enabled: has('domains') && can('READ') })
  const webhooks = useGraphQL(StartWebhooks, {}, { enabled: has('webhooks') && can('READ') })
  const figures = useFigures(has('statistics') && has('sending') && can('READ'))
  const email = emails.data?.emails.nodes[0]
  const sent = email !== undefined
  useLive(['email.sent', 'email.bounced', 'domain.'], (e) => {
    if (e.type === 'email.bounced') void queries.invalidateQueries({ queryKey: [StartBounced.name] })
    if (!sent && e.type === 'email.sent') void queries.invalidateQueries({ queryKey: [StartEmails.name] })
    if (e.type.startsWith('domain.')) void queries.invalidateQueries({ queryKey: [StartDomains.name] })
  })
  const verified = domains.data?.domains.nodes.find((d) => d.status === 'VERIFIED')
  const unknown = [emails, bounced, domains, webhooks].filter((q) => q.error && !q.data)
  const wait = emails.isLoading || domains.isLoading || webhooks.isLoading
  // The first email appears inside the first step. Nothing else on the page moves until the next visit.
  const began = useRef<boolean>(undefined)
  if (!wait && emails.data) began.current ??= !sent
  const first = began.current ?? false
  const sends = has('sending') && can('SEND')
  return (
    <>
      <PageHead title="Start" />
      <PageBody narrow>
        {wait ? (
          <SkeletonText lines={8} />
        ) : (
          <>
            {can('READ') && <Attention totals={figures.data?.emailStatistics.totals} />}
            {unknown.length > 0
              ? <ErrorAlert error={unknown[0]?.error} title="Couldn’t load the setup" retry={() => unknown.forEach((q) => void q.refetch())} />
              : <Checklist first={first && sends} email={email} bounced={(bounced.data?.emails.nodes.length ?? 0) > 0} verified={verified !== undefined} domains={(domains.data?.domains.nodes.length ?? 0) > 0} webhooks={(webhooks.data?.webhooks.nodes.length ?? 0) > 0} />}
            {!first && sent && has('statistics') && can('READ') && <Figures figures={figures} />}
            {can('READ') && <Installation />}
            {!(first && unknown.length === 0) && sends && <Card title="Send an email" padded={false}><SendOne /></Card>}
            {has('eventlog') && can('READ') && !first && <Happening />}
          </>
        )}
      </PageBody>
    </>
  )
}
