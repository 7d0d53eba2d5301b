import { Link } from '@tanstack/react-router'
import { ArrowLeft, Download, Paperclip } from 'lucide-react'
import { useMemo, type ReactNode } from 'react'
import { useSearchParams } from '@/app/searchParams'
import { CodeBlock } from '@/parts/CodeBlock'
import { CopyButton } from '@/parts/CopyButton'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Detail, DetailList } from '@/parts/Page'
import { SkeletonText } from '@/parts/Skeleton'
import { Tabs } from '@/parts/Tabs'
import { Time } from '@/parts/Time'
import { check, links } from './check'
import { Checks } from './Checks'
import { useSource, useWhole, type Whole } from './caught'
import { Preview } from '../received/Preview'
import { formatBytes } from '@/parts/file'

export function Mail({ base, id, onClose }: { base: string; id: string; onClose: () => void }) {
  const whole = useWhole(base, id)
  return (
    <div className="grid min-w-0 gap-4 py-4">
      <div className="px-4 md:hidden"><button type="button" className="btn sm" onClick={onClose}><ArrowLeft aria-hidden />All emails</button></div>
      {whole.error && <div className="px-4 md:px-6"><ErrorAlert error={whole.error} retry={() => void whole.refetch()} /></div>}
      {whole.isPending && <div className="px-4 md:px-6"><SkeletonText lines={8} /></div>}
      {whole.data && <Shown base={base} mail={whole.data} />}
    </div>
  )
}

function Shown({ base, mail }: { base: string; mail: Whole }) {
  const [address, change] = useSearchParams()
  const email = /^(msg_[a-z0-9]+)@/.exec(mail.message_id)?.[1]
  const problems = useMemo(() => check(mail).length + links(mail.html).filter((l) => l.wrong).length, [mail])
  const tabs = [
    { key: 'html', name: 'HTML', hidden: !mail.html },
    { key: 'text', name: 'Text', hidden: !mail.text && mail.html !== '' },
    { key: 'checks', name: 'Checks', count: problems },
    { key: 'headers', name: 'Headers', count: mail.headers.length },
    { key: 'source', name: 'Source' },
    { key: 'files', name: 'Attachments', count: mail.attachments.length, hidden: mail.attachments.length === 0 },
  ]
  const shown = tabs.filter((t) => !t.hidden)
  const tab = shown.find((t) => t.key === address.tab)?.key ?? shown[0]?.key ?? 'text'
  const panels: Record<string, () => ReactNode> = {
    html: () => <HTML path={`${base}/${mail.id}/html`} subject={mail.subject} />,
    text: () => mail.text ? <CodeBlock text={mail.text} wrap max="" /> : <p className="text-ink-3">No text part.</p>,
    checks: () => <Checks mail={mail} />,
    headers: () => <CodeBlock text={mail.headers.map((h) => `${h.name}: ${h.value}`).join('\n')} wrap max="" />,
    source: () => <Source path={mail.source_url} name={`${mail.id}.eml`} />,
    files: () => (
      <ul>
        {mail.attachments.map((a) => (
          <li key={a.url} className="flex min-h-11 items-center gap-2 border-b border-line-soft last:border-0">
            <Paperclip aria-hidden className="text-ink-3" />
            <span className="min-w-0 flex-1"><b className="block truncate font-medium">{a.name}</b><span className="text-xs text-ink-3">{a.content_type} · {formatBytes(a.size)}</span></span>
            <a className="btn sm" href={a.url} download aria-label={`Download ${a.name}`}><Download aria-hidden />Download</a>
          </li>
        ))}
      </ul>
    ),
  }
  return (
    <>
      <div className="grid gap-3 px-4 md:px-6">
        <div className="flex flex-wrap items-start gap-2">
          <h2 className="min-w-0 flex-[1_1_240px] text-xl wrap-anywhere">{mail.subject || '(no subject)'}</h2>
          {email && <Link to={`/emails/${email}`} className="btn">View delivery</Link>}
        </div>
        <DetailList>
          <Detail name="From">{mail.from || mail.mail_from}</Detail>
          <Detail name="To">{mail.rcpt_to.join(', ')}</Detail>
          <Detail name="Captured"><Time at={mail.received_at} exact /> <span className="text-ink-3">· {formatBytes(mail.size)}</span></Detail>
          <Detail name="Envelope"><span className="inline-flex max-w-full items-center gap-0.5"><code className="truncate text-ink-2">{mail.mail_from || '<>'}</code>{mail.mail_from && <CopyButton text={mail.mail_from} label="Copy envelope sender" />}</span></Detail>
        </DetailList>
      </div>
      <div className="min-w-0"><Tabs label="Email views" tabs={tabs} value={tab} onChange={(t) => change({ tab: t })}><div className="p-4 md:px-6">{panels[tab]?.()}</div></Tabs></div>
    </>
  )
}

const none: never[] = []

// HTML is the email rendered by the inbox, with its own images in place.
function HTML({ path, subject }: { path: string; subject: string }) {
  const html = useSource(path)
  if (html.error) return <ErrorAlert error={html.error} retry={() => void html.refetch()} />
  if (html.data === undefined) return <SkeletonText lines={6} />
  return <Preview html={html.data} title={`Preview of ${subject || 'the email'}`} pictures={none} />
}

const most = 256 * 1024

function Source({ path, name }: { path: string; name: string }) {
  const source = useSource(path)
  if (source.error) return <ErrorAlert error={source.error} retry={() => void source.refetch()} />
  if (source.data === undefined) return <SkeletonText lines={6} />
  return (
    <div className="grid gap-2">
      <div><a className="btn sm" href={path} download={name}><Download aria-hidden />Download</a></div>
      <CodeBlock text={source.data.slice(0, most)} wrap max="" />
      {source.data.length > most && <p className="text-xs text-ink-3">Only the beginning is shown. Download the email for the rest.</p>}
    </div>
  )
}
