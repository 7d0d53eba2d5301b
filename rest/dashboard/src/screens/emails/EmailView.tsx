import { useQueryClient } from '@tanstack/react-query'
import { keyOf, useGraph } from '@/api/graphql'
import { useLive } from '@/api/live'
import { useAddress } from '@/app/address'
import { useViewer } from '@/app/viewer'
import { Badge } from '@/parts/Badge'
import { CopyButton } from '@/parts/Copy'
import { Failure } from '@/parts/Failure'
import { Fact, Facts } from '@/parts/Page'
import { SkeletonText } from '@/parts/Skeleton'
import { Tabs } from '@/parts/Tabs'
import { Time } from '@/parts/Time'
import { Actions } from './Actions'
import { Attachments, Headers, Preview, Source, Text, useContent } from './Content'
import { EmailAutomation, EmailDetail, EmailEngagement, type EmailDetailQuery } from './queries.gen'
import { Attempts, Recipients } from './Recipients'
import { lookOfEmail } from './status'
import { Story } from './Story'

export type Email = NonNullable<EmailDetailQuery['email']>

// EmailView is all of an email: beside a list one below the other, on its own page the content beside
// the story.
export function EmailView({ id, beside }: { id: string; beside?: boolean }) {
  const { has } = useViewer()
  const queries = useQueryClient()
  const detail = useGraph(EmailDetail, { id })
  const engagement = useGraph(EmailEngagement, { id }, { enabled: has('tracking') })
  useLive(['email.'], (e) => {
    if ((e.data as { email_id?: string }).email_id !== id) return
    void queries.invalidateQueries({ queryKey: keyOf(EmailDetail, { id }) })
    if (/opened|clicked/.test(e.type)) void queries.invalidateQueries({ queryKey: keyOf(EmailEngagement, { id }) })
  })
  const content = useContent(id)
  const [address, change] = useAddress()
  if (detail.error) return <div className="p-4"><Failure error={detail.error} retry={() => void detail.refetch()} /></div>
  if (detail.isPending) return <div className="p-5"><SkeletonText lines={8} /></div>
  const email = detail.data.email
  if (!email) return <p className="p-5 text-ink-2">There is no email with this id in your account, or it was deleted after the time for which records are kept.</p>
  const body = content.data?.email?.content
  const contentTabs = [
    { key: 'preview', name: 'Preview' },
    { key: 'text', name: 'Text' },
    { key: 'source', name: 'HTML' },
    { key: 'headers', name: 'Headers' },
    { key: 'attachments', name: 'Attachments', count: body?.attachments.length || undefined },
  ]
  const storyTabs = [
    { key: 'story', name: 'Timeline' },
    { key: 'recipients', name: 'Recipients', count: email.recipients.length },
    { key: 'attempts', name: 'Attempts', count: email.attempts.length },
  ]
  const panel = (tab: string) => {
    switch (tab) {
      case 'recipients': return <Recipients email={email} />
      case 'attempts': return <Attempts email={email} />
      case 'preview': return <Preview content={content} tall={!beside} />
      case 'text': return <Text content={content} />
      case 'source': return <Source content={content} />
      case 'headers': return <Headers content={content} email={email} />
      case 'attachments': return <Attachments content={content} />
      default: return <Story email={email} engagements={engagement.data?.email?.engagements ?? []} />
    }
  }
  const known = (tabs: { key: string }[], wanted: string | undefined) => tabs.find((t) => t.key === wanted)?.key ?? tabs[0]?.key ?? ''
  const head = <Head email={email} />
  if (beside) {
    const tabs = [...storyTabs, ...contentTabs]
    const tab = known(tabs, address.tab)
    return (
      <>
        {head}
        <Tabs label="Email" tabs={tabs} value={tab} onChange={(key) => change({ tab: key === 'story' ? undefined : key })} inset="px-4 md:px-5"><div className="p-4 md:p-5">{panel(tab)}</div></Tabs>
      </>
    )
  }
  const story = known(storyTabs, address.tab)
  const shown = known(contentTabs, address.show)
  return (
    <div className="grid min-h-full lg:grid-cols-[minmax(0,1fr)_minmax(0,1.1fr)]">
      <div className="min-w-0 border-line lg:border-r">
        {head}
        <Tabs label="What happened" tabs={storyTabs} value={story} onChange={(key) => change({ tab: key })} inset="px-4 md:px-5"><div className="p-4 md:p-5">{panel(story)}</div></Tabs>
      </div>
      <div className="min-w-0 border-t border-line lg:border-t-0">
        <Tabs label="Content" tabs={contentTabs} value={shown} onChange={(key) => change({ show: key })} inset="px-4 md:px-5 lg:pt-2"><div className="p-4 md:p-5">{panel(shown)}</div></Tabs>
      </div>
    </div>
  )
}

function Head({ email }: { email: Email }) {
  const look = lookOfEmail(email)
  const { has } = useViewer()
  const automation = useGraph(EmailAutomation, { id: email.id }, { enabled: has('automations') }).data?.email?.automation
  const settled = email.recipients.filter((r) => r.state === 'DELIVERED').length
  return (
    <section className="grid gap-3 p-4 pb-3 md:p-5 md:pb-3">
      <div className="flex flex-wrap items-center gap-2">
        <Badge tone={look.tone} icon={look.icon}>{look.word}</Badge>
        {email.recipients.length > 1 && <span className="text-xs text-ink-2">{settled} of {email.recipients.length} recipients delivered</span>}
        {email.status === 'SCHEDULED' && <span className="text-xs text-ink-2">to be sent <Time at={email.scheduledAt} /></span>}
      </div>
      <h2 className="text-xl tracking-[-0.012em] wrap-anywhere">{email.subject || <span className="text-ink-3">No subject</span>}</h2>
      {email.bounceReason && <p className="smtp bad !mt-0">{email.bounceReason}</p>}
      <Actions email={email} />
      <Facts>
        <Fact name="From">{email.from}</Fact>
        <Fact name="To"><Addresses list={email.to} /></Fact>
        {email.cc.length > 0 && <Fact name="Cc"><Addresses list={email.cc} /></Fact>}
        {email.bcc.length > 0 && <Fact name="Bcc"><Addresses list={email.bcc} /></Fact>}
        {email.replyTo.length > 0 && <Fact name="Reply to"><Addresses list={email.replyTo} /></Fact>}
        {email.tags.length > 0 && <Fact name="Tags"><span className="flex flex-wrap gap-1">{email.tags.map((t) => <a key={t.name} href={`/emails?q=${encodeURIComponent(`tag:${t.name}=${t.value}`)}`} className="chip">{t.name}=<b>{t.value}</b></a>)}</span></Fact>}
        {automation && <Fact name="Automation"><a className="link" href={`/automations/${automation.automationId}`}>{automation.automationName ?? automation.automationId}</a>{automation.stepKey && <span className="text-ink-3"> step <code>{automation.stepKey}</code></span>} <a className="link" href={`/automations/runs/${automation.runId}`}>run</a></Fact>}
        <Fact name="Created"><Time at={email.createdAt} exact /></Fact>
        {email.scheduledAt && <Fact name="Scheduled"><Time at={email.scheduledAt} exact /></Fact>}
        {email.expiresAt && <Fact name="Expires"><Time at={email.expiresAt} exact /></Fact>}
      </Facts>
    </section>
  )
}

function Addresses({ list }: { list: string[] }) {
  return list.map((address) => <span key={address} className="flex items-center gap-1"><a className="link min-w-0 wrap-anywhere" href={`/emails?q=${encodeURIComponent(`to:${address}`)}`} title="Emails to this address">{address}</a><CopyButton text={address} label={`Copy ${address}`} className="-my-1" /></span>)
}
