import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ArrowLeft } from 'lucide-react'
import type { ReactNode } from 'react'
import { rest, unwrap } from '@/api/rest'
import { useSearchParams } from '@/app/searchParams'
import { Badge } from '@/parts/Badge'
import { CodeBlock } from '@/parts/CodeBlock'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Detail, DetailList } from '@/parts/Page'
import { SkeletonText } from '@/parts/Skeleton'
import { Tabs } from '@/parts/Tabs'
import { Time } from '@/parts/Time'
import { formatBytes } from '@/parts/file'
import { Preview } from '../received/Preview'

const readEmail = (id: string, signal: AbortSignal) => unwrap(rest.GET('/test/inbox/{id}', { params: { path: { id } }, signal })).then((a) => a.captured_email)

type Email = Awaited<ReturnType<typeof readEmail>>

export function CapturedEmail({ id, onClose }: { id: string; onClose: () => void }) {
  const email = useQuery({ queryKey: ['captured-email', id], queryFn: ({ signal }) => readEmail(id, signal), staleTime: Infinity, refetchInterval: false })
  return (
    <div className="grid min-w-0 gap-4 py-4">
      <div className="px-4 md:hidden"><button type="button" className="btn sm" onClick={onClose}><ArrowLeft aria-hidden />All emails</button></div>
      {email.error && <div className="px-4 md:px-6"><ErrorAlert error={email.error} retry={() => void email.refetch()} /></div>}
      {email.isPending && <div className="px-4 md:px-6"><SkeletonText lines={8} /></div>}
      {email.data && <Shown email={email.data} />}
    </div>
  )
}

const none: never[] = []

function Shown({ email }: { email: Email }) {
  const [address, change] = useSearchParams()
  const sent = /^(msg_[a-z0-9]+)@/.exec(email.message_id)?.[1]
  const tabs = [
    { key: 'html', name: 'HTML', hidden: !email.html },
    { key: 'text', name: 'Text', hidden: !email.text && !!email.html },
    { key: 'checks', name: 'Checks', count: email.findings.length },
    { key: 'links', name: 'Links', count: email.links.length, hidden: email.links.length === 0 },
    { key: 'headers', name: 'Headers', count: email.headers.length },
    { key: 'files', name: 'Attachments', count: email.attachments.length, hidden: email.attachments.length === 0 },
  ]
  const shown = tabs.filter((t) => !t.hidden)
  const tab = shown.find((t) => t.key === address.tab)?.key ?? shown[0]?.key ?? 'text'
  const panels: Record<string, () => ReactNode> = {
    html: () => <Preview html={email.html ?? ''} title={`Preview of ${email.subject || 'the email'}`} pictures={none} />,
    text: () => email.text ? <CodeBlock text={email.text} wrap max="" /> : <p className="text-ink-3">No text part.</p>,
    checks: () => <Findings list={email.findings} />,
    links: () => <CodeBlock text={email.links.join('\n')} wrap max="" />,
    headers: () => <CodeBlock text={email.headers.map((h) => `${h.name}: ${h.value}`).join('\n')} wrap max="" />,
    files: () => <ul>{email.attachments.map((a, i) => <li key={i} className="min-h-9 border-b border-line-soft py-1.5 last:border-0"><b className="block truncate font-medium">{a.filename || `Part ${i + 1}`}</b><span className="text-xs text-ink-3">{a.content_type} · {formatBytes(a.size)}</span></li>)}</ul>,
  }
  return (
    <>
      <div className="grid gap-3 px-4 md:px-6">
        <div className="flex flex-wrap items-start gap-2">
          <h2 className="min-w-0 flex-[1_1_240px] text-xl wrap-anywhere">{email.subject || '(no subject)'}</h2>
          {sent && <Link to={`/emails/${sent}`} className="btn">View delivery</Link>}
        </div>
        <DetailList>
          <Detail name="From">{email.from || email.return_path}</Detail>
          <Detail name="To">{email.to.join(', ')}</Detail>
          <Detail name="Captured"><Time at={email.received_at} exact /> <span className="text-ink-3">· {formatBytes(email.size)}</span></Detail>
        </DetailList>
      </div>
      <div className="min-w-0"><Tabs label="Email views" tabs={tabs} value={tab} onChange={(t) => change({ tab: t })}><div className="p-4 md:px-6">{panels[tab]?.()}</div></Tabs></div>
    </>
  )
}

function Findings({ list }: { list: Email['findings'] }) {
  if (list.length === 0) return <p className="text-ink-3">No problems found.</p>
  return (
    <ul className="grid gap-3">
      {list.map((f) => (
        <li key={f.code} className="grid gap-0.5">
          <span className="flex items-center gap-2"><Badge tone={f.severity === 'error' ? 'bad' : 'warn'}>{f.severity}</Badge><b className="font-medium">{f.reason}</b></span>
          <span className="text-ink-2">{f.fix}</span>
        </li>
      ))}
    </ul>
  )
}
