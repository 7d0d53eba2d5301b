import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Download, Forward, MailX, Reply, Trash2 } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { keyOf, useGraphQL } from '@/api/graphql'
import { unwrap, rest } from '@/api/rest'
import { useSearchParams } from '@/app/searchParams'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { AddressLink, bareAddress } from '@/parts/AddressLink'
import { Badge } from '@/parts/Badge'
import { CodeBlock } from '@/parts/CodeBlock'
import { ConfirmDialog } from '@/parts/ConfirmDialog'
import { CopyableId } from '@/parts/CopyButton'
import { EmptyState } from '@/parts/EmptyState'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Menu } from '@/parts/Menu'
import { ForeignText, showInvisible } from '@/parts/ForeignText'
import { Detail, DetailList } from '@/parts/Page'
import { SkeletonText } from '@/parts/Skeleton'
import { Tabs } from '@/parts/Tabs'
import { Time } from '@/parts/Time'
import { AnswerDialog } from './AnswerDialog'
import { Conversation, useConversation } from './Conversation'
import { Files } from './Files'
import { Preview } from './Preview'
import { ReceivedOne, type ReceivedOneQuery } from './queries.gen'
import { formatBytes, saveFile } from '@/parts/file'
import { WebhookDeliveries } from './WebhookDeliveries'
import { SpamVerdict, Verdict } from './Verdict'

export type Received = NonNullable<ReceivedOneQuery['receivedEmail']>

// readWhole fetches a message with its files, whose data only REST returns.
export const readWhole = (id: string) => unwrap(rest.GET('/received-emails/{id}', { params: { path: { id } } })).then((a) => a.received_email)

const readRaw = (id: string) => unwrap(rest.GET('/received-emails/{id}/raw', { params: { path: { id } }, parseAs: 'text' }))

// Message shows a received email, in the sheet and on its page.
export function Message({ id, gone }: { id: string; gone: () => void }) {
  const one = useGraphQL(ReceivedOne, { id })
  if (one.error) return <div className="p-4 md:p-5"><ErrorAlert error={one.error} retry={() => void one.refetch()} /></div>
  if (!one.data) return <div className="p-4 md:p-5"><SkeletonText lines={8} /></div>
  if (!one.data.receivedEmail) return <EmptyState icon={MailX} title="Email not found">It was deleted, or it belongs to another account.</EmptyState>
  return <Shown mail={one.data.receivedEmail} gone={gone} />
}

function Shown({ mail, gone }: { mail: Received; gone: () => void }) {
  const viewer = useViewer()
  const [answer, setAnswer] = useState<'reply' | 'forward' | null>(null)
  const [deleting, setDeleting] = useState(false)
  const queries = useQueryClient()
  const download = () => readRaw(mail.id).then((raw) => saveFile([raw], `${mail.id}.eml`, 'message/rfc822'), toast.error)
  const may = viewer.can('SEND') && viewer.can('WRITE')
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4 py-4">
      <div className="grid grid-cols-[minmax(0,1fr)] gap-3 px-4 md:px-5">
        <div className="flex flex-wrap items-start gap-2">
          <h2 className="min-w-0 flex-[1_1_240px] text-xl wrap-anywhere"><ForeignText text={mail.subject || '(no subject)'} /></h2>
          <div className="flex gap-2">
            {may && <button type="button" className="btn" onClick={() => setAnswer('reply')}><Reply aria-hidden />Reply</button>}
            {may && <button type="button" className="btn" onClick={() => setAnswer('forward')}><Forward aria-hidden />Forward</button>}
            <Menu entries={[{ name: 'Download message', icon: Download, run: () => void download() }, { name: 'Delete', icon: Trash2, danger: true, hidden: !viewer.can('WRITE'), run: () => setDeleting(true) }]} />
          </div>
        </div>
        <div className="flex flex-wrap gap-1.5">
          <Verdict name="SPF" result={mail.authentication.spf} />
          <Verdict name="DKIM" result={mail.authentication.dkim} />
          <Verdict name="DMARC" result={mail.authentication.dmarc} />
          <SpamVerdict status={mail.spamStatus} score={mail.spamScore} />
          {mail.autoSubmitted && <Badge>Automated message</Badge>}
        </div>
        {mail.defects.length > 0 && <ul className="grid gap-0.5 rounded-control bg-warn-soft px-3 py-2 text-warn">{mail.defects.map((d) => <li key={d}>{d}</li>)}</ul>}
        <DetailList>
          <Detail name="From"><AddressLink address={bareAddress(mail.from)}>{showInvisible(mail.from)}</AddressLink></Detail>
          <Detail name="To"><ForeignText text={mail.to.join(', ')} /></Detail>
          <Detail name="Cc">{mail.cc.join(', ')}</Detail>
          <Detail name="Reply to">{mail.replyTo.join(', ')}</Detail>
          <Detail name="Received"><Time at={mail.receivedAt} /> <span className="text-ink-3">for {mail.rcptTo}</span></Detail>
        </DetailList>
      </div>
      <Contents mail={mail} />
      {answer && <AnswerDialog kind={answer} mail={mail} onClose={() => setAnswer(null)} />}
      {deleting && (
        <ConfirmDialog
          title="Delete this email?" label="Delete" danger onClose={() => setDeleting(false)}
          run={async () => {
            await unwrap(rest.DELETE('/received-emails/{id}', { params: { path: { id: mail.id } } }))
            queries.removeQueries({ queryKey: keyOf(ReceivedOne, { id: mail.id }) })
            toast.success('Email deleted')
            gone()
          }}
        >The email and its attachments are deleted permanently.</ConfirmDialog>
      )}
    </div>
  )
}

function Contents({ mail }: { mail: Received }) {
  const [address, change] = useSearchParams()
  const { has } = useViewer()
  const { content } = mail
  const thread = useConversation(mail)
  const tabs = [
    { key: 'preview', name: 'Preview', hidden: !content?.html },
    { key: 'text', name: 'Text', hidden: !content || (!content.text && content.html !== null) },
    { key: 'headers', name: 'Headers', count: content?.headers.length, hidden: !content },
    { key: 'source', name: 'Source', hidden: !content },
    { key: 'files', name: 'Attachments', count: mail.attachments.length, hidden: mail.attachments.length === 0 },
    { key: 'thread', name: 'Conversation', count: thread.letters.length, hidden: thread.letters.length < 2 && !thread.error },
    { key: 'webhooks', name: 'Webhooks', hidden: !has('webhooks') },
    { key: 'details', name: 'Details' },
  ]
  const shown = tabs.filter((t) => !t.hidden)
  const tab = shown.find((t) => t.key === address.tab)?.key ?? shown[0]?.key ?? 'details'
  const panels: Record<string, () => ReactNode> = {
    preview: () => <HTML mail={mail} html={content?.html ?? ''} />,
    text: () => content?.text ? <CodeBlock text={content.text} wrap max="" /> : <p className="text-ink-3">No text part.</p>,
    headers: () => <Headers list={content?.headers ?? []} />,
    source: () => <Source id={mail.id} />,
    files: () => <Files mail={mail} />,
    thread: () => <Conversation {...thread} open={mail.id} />,
    webhooks: () => <WebhookDeliveries id={mail.id} />,
    details: () => <Details mail={mail} />,
  }
  return (
    <div>
      {!content && <p className="mx-4 mb-3 rounded-control bg-sunken px-3 py-2 text-ink-2 md:mx-5">The content was deleted after the retention period. The sender and the time are kept.</p>}
      <Tabs label="Email views" tabs={tabs} value={tab} onChange={(t) => change({ tab: t })} inset="px-4 md:px-5"><div className="p-4 md:p-5">{panels[tab]?.()}</div></Tabs>
    </div>
  )
}

const none: never[] = []

function HTML({ mail, html }: { mail: Received; html: string }) {
  const wants = /cid:/i.test(html) && mail.attachments.some((a) => a.contentId)
  const whole = useQuery({ queryKey: ['received-whole', mail.id], queryFn: () => readWhole(mail.id), enabled: wants, select: picturesOf, staleTime: Infinity })
  return <Preview html={html} title={`Preview of ${mail.subject || 'the email'}`} pictures={whole.data ?? none} />
}

const picturesOf = (whole: Awaited<ReturnType<typeof readWhole>>) =>
  whole.attachments.flatMap((a) => (a.content_id && a.data ? [{ contentId: a.content_id, type: a.content_type, data: a.data }] : []))

function Headers({ list }: { list: { name: string; value: string }[] }) {
  return (
    <div className="overflow-x-auto">
      <table aria-label="Header fields" className="w-full text-left">
        <thead><tr className="text-xs text-ink-3"><th scope="col" className="w-40 py-1 pr-3 font-medium">Name</th><th scope="col" className="py-1 font-medium">Value</th></tr></thead>
        <tbody>
          {list.map((h, i) => <tr key={i} className="border-t border-line-soft align-top"><td className="py-1.5 pr-3"><code className="wrap-anywhere text-ink-2">{h.name}</code></td><td className="py-1.5"><code className="wrap-anywhere">{h.value}</code></td></tr>)}
        </tbody>
      </table>
    </div>
  )
}

const most = 256 * 1024

function Source({ id }: { id: string }) {
  const raw = useQuery({ queryKey: ['received-raw', id], queryFn: () => readRaw(id), staleTime: Infinity })
  if (raw.error) return <ErrorAlert error={raw.error} retry={() => void raw.refetch()} />
  if (raw.data === undefined) return <SkeletonText lines={6} />
  return (
    <div className="grid gap-2">
      <div><button type="button" className="btn sm" onClick={() => saveFile([raw.data], `${id}.eml`, 'message/rfc822')}><Download aria-hidden />Download</button></div>
      <CodeBlock text={raw.data.slice(0, most)} wrap max="max-h-[640px]" />
      {raw.data.length > most && <p className="text-xs text-ink-3">Only the beginning is shown. Download the message for the rest.</p>}
    </div>
  )
}

function Details({ mail }: { mail: Received }) {
  return (
    <DetailList>
      <Detail name="ID"><CopyableId id={mail.id} /></Detail>
      <Detail name="Message-ID">{mail.messageId && <CopyableId id={mail.messageId} />}</Detail>
      <Detail name="In reply to">{mail.inReplyTo && <CopyableId id={mail.inReplyTo} />}</Detail>
      <Detail name="Thread">{mail.references.length === 0 ? null : <ol>{mail.references.map((r) => <li key={r}><CopyableId id={r} /></li>)}</ol>}</Detail>
      <Detail name="Envelope from">{mail.mailFrom || '<> (a report, such as a bounce)'}</Detail>
      <Detail name="Envelope to">{mail.rcptTo}</Detail>
      <Detail name="Sending server">{mail.remoteIp}{mail.helo && ` (${mail.helo})`}</Detail>
      <Detail name="Reverse DNS"><Verdict name="" result={mail.authentication.iprev} /></Detail>
      <Detail name="DMARC policy">{mail.authentication.dmarcPolicy ?? 'not published'}</Detail>
      <Detail name="TLS">{mail.tls ?? 'not encrypted'}</Detail>
      <Detail name="Size">{formatBytes(mail.size)}</Detail>
      <Detail name="Received"><Time at={mail.receivedAt} exact /></Detail>
    </DetailList>
  )
}
