import { useQueryClient } from '@tanstack/react-query'
import { keyOf, useGraphQL } from '@/api/graphql'
import { useLive } from '@/api/live'
import { useSearchParams } from '@/app/searchParams'
import { useViewer } from '@/app/viewer'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { SkeletonText } from '@/parts/Skeleton'
import { Tabs } from '@/parts/Tabs'
import { Attachments, Headers, Preview, Raw, Source, Text, useContent } from './Content'
import { Head } from './Head'
import { EmailDetail, EmailEngagement, type EmailDetailQuery } from './queries.gen'
import { Attempts, Recipients } from './Recipients'
import { Story } from './Story'
import { WebhookDeliveries } from './WebhookDeliveries'

export type Email = NonNullable<EmailDetailQuery['email']>

// EmailView shows an email: in one column next to a list, in two columns (content and timeline) on its own page.
export function EmailView({ id, inPanel }: { id: string; inPanel?: boolean }) {
  const { can, has } = useViewer()
  const queries = useQueryClient()
  const detail = useGraphQL(EmailDetail, { id })
  const engagement = useGraphQL(EmailEngagement, { id }, { enabled: has('tracking') })
  useLive(['email.'], (e) => {
    if ((e.data as { email_id?: string }).email_id !== id) return
    void queries.invalidateQueries({ queryKey: keyOf(EmailDetail, { id }) })
    if (/opened|clicked/.test(e.type)) void queries.invalidateQueries({ queryKey: keyOf(EmailEngagement, { id }) })
  })
  const content = useContent(id)
  const [address, change] = useSearchParams()
  if (detail.error) return <div className="p-4"><ErrorAlert error={detail.error} retry={() => void detail.refetch()} /></div>
  if (detail.isPending) return <div className="p-5"><SkeletonText lines={8} /></div>
  const email = detail.data.email
  if (!email) return <p className="p-5 text-ink-2">This email doesn’t exist in your account, or was deleted after the retention period.</p>
  const body = content.data?.email?.content
  const contentTabs = [
    { key: 'preview', name: 'Preview' },
    { key: 'text', name: 'Text' },
    { key: 'source', name: 'HTML' },
    { key: 'headers', name: 'Headers' },
    { key: 'raw', name: 'Raw' },
    { key: 'attachments', name: 'Attachments', count: body?.attachments.length || undefined },
  ]
  const storyTabs = [
    { key: 'story', name: 'Timeline' },
    { key: 'recipients', name: 'Recipients', count: email.recipients.length },
    { key: 'attempts', name: 'Attempts', count: email.attempts.length },
    { key: 'webhooks', name: 'Webhooks', hidden: !has('webhooks') || !can('READ') },
  ]
  const panel = (tab: string) => {
    switch (tab) {
      case 'recipients': return <Recipients email={email} />
      case 'attempts': return <Attempts email={email} />
      case 'webhooks': return <WebhookDeliveries id={id} />
      case 'preview': return <Preview content={content} tall={!inPanel} />
      case 'text': return <Text content={content} />
      case 'source': return <Source content={content} />
      case 'headers': return <Headers content={content} email={email} />
      case 'raw': return <Raw id={id} />
      case 'attachments': return <Attachments content={content} />
      default: return <Story email={email} engagements={engagement.data?.email?.engagements ?? []} />
    }
  }
  const known = (tabs: { key: string }[], wanted: string | undefined) => tabs.find((t) => t.key === wanted)?.key ?? tabs[0]?.key ?? ''
  const story = known(storyTabs, address.tab)
  const shown = known(contentTabs, address.show)
  return (
    <div className={`grid ${inPanel ? 'content-start' : 'min-h-full lg:grid-cols-[minmax(0,1fr)_minmax(0,1.1fr)]'}`}>
      <div className={`min-w-0 border-line ${inPanel ? '' : 'lg:border-r'}`}>
        <Head email={email} />
        <Tabs label="Activity" tabs={storyTabs} value={story} onChange={(key) => change({ tab: key })} inset="px-4 md:px-5"><div className="p-4 md:p-5">{panel(story)}</div></Tabs>
      </div>
      <div className={`min-w-0 border-t border-line ${inPanel ? '' : 'lg:border-t-0'}`}>
        <Tabs label="Content" tabs={contentTabs} value={shown} onChange={(key) => change({ show: key })} inset="px-4 md:px-5 lg:pt-2"><div className="p-4 md:p-5">{panel(shown)}</div></Tabs>
      </div>
    </div>
  )
}
