import { Download, Monitor, Moon, Paperclip, Smartphone } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { useGraphQL } from '@/api/graphql'
import { CodeBlock } from '@/parts/CodeBlock'
import { CopyButton } from '@/parts/CopyButton'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { HtmlPreview } from '@/parts/HtmlPreview'
import { SkeletonText } from '@/parts/Skeleton'
import { saveFile } from '@/parts/file'
import { SegmentedControl } from '@/parts/Tabs'
import type { Email } from './EmailView'
import { EmailContent, EmailRaw, type EmailContentQuery } from './queries.gen'

export const useContent = (id: string) => useGraphQL(EmailContent, { id })

type Content = ReturnType<typeof useContent>
type Body = NonNullable<EmailContentQuery['email']>['content']

function With({ content, children }: { content: Content; children: (body: Body) => ReactNode }) {
  if (content.error) return <ErrorAlert error={content.error} retry={() => void content.refetch()} />
  if (content.isPending) return <SkeletonText lines={6} />
  const body = content.data?.email?.content
  return body ? children(body) : null
}

const gone = <p className="text-ink-3">No content: the email was sent without it, or it was deleted after the retention period.</p>

export function Preview({ content, tall }: { content: Content; tall?: boolean }) {
  const [on, setOn] = useState<'desktop' | 'mobile'>('desktop')
  const [dark, setDark] = useState(false)
  return (
    <With content={content}>
      {(body) => {
        if (!body.html) return body.text ? <CodeBlock text={body.text} wrap /> : gone
        return (
          <div className="grid gap-3">
            <div className="flex items-center gap-2">
              <SegmentedControl label="Preview as" value={on} onChange={setOn} choices={[{ key: 'desktop', name: 'Desktop', icon: <Monitor aria-hidden className="!size-3.5" /> }, { key: 'mobile', name: 'Phone', icon: <Smartphone aria-hidden className="!size-3.5" /> }]} />
              <button type="button" aria-pressed={dark} className="btn sm aria-pressed:bg-press" onClick={() => setDark(!dark)}><Moon aria-hidden />Dark</button>
            </div>
            <HtmlPreview html={body.html} label="Email preview" dark={dark} mobile={on === 'mobile'} className={tall ? 'h-[min(720px,calc(100dvh-240px))] min-h-[420px]' : 'h-[520px]'} />
          </div>
        )
      }}
    </With>
  )
}

export const Text = ({ content }: { content: Content }) => <With content={content}>{(body) => (body.text ? <CodeBlock text={body.text} wrap max="max-h-[720px]" /> : gone)}</With>

export const Source = ({ content }: { content: Content }) => <With content={content}>{(body) => (body.html ? <CodeBlock text={body.html} wrap max="max-h-[720px]" /> : gone)}</With>

export function Headers({ content, email }: { content: Content; email: Email }) {
  const list = (name: string, values: string[]) => (values.length > 0 ? [{ name, value: values.join(', ') }] : [])
  return (
    <With content={content}>
      {(body) => (
        <dl className="grid gap-x-4 gap-y-2 sm:grid-cols-[140px_minmax(0,1fr)]">
          {[{ name: 'Message-ID', value: `<${email.messageId}>` }, { name: 'From', value: email.from }, ...list('To', email.to), ...list('Cc', email.cc), ...list('Reply-To', email.replyTo), { name: 'Subject', value: email.subject }, ...body.headers].map((h, i) => (
            <div key={`${h.name} ${i}`} className="contents">
              <dt className="font-mono text-xs leading-5 text-ink-3">{h.name}</dt>
              <dd className="flex min-w-0 items-start gap-1 font-mono text-xs leading-5 max-sm:mb-2"><span className="min-w-0 wrap-anywhere">{h.value}</span><CopyButton text={h.value} label={`Copy ${h.name}`} className="-my-0.5" /></dd>
            </div>
          ))}
        </dl>
      )}
    </With>
  )
}

// Raw shows the whole message as its recipients got it, before signing, and downloads it.
export function Raw({ id }: { id: string }) {
  const raw = useGraphQL(EmailRaw, { id })
  if (raw.error) return <ErrorAlert error={raw.error} retry={() => void raw.refetch()} />
  if (raw.isPending) return <SkeletonText lines={8} />
  const text = raw.data?.email?.content.raw
  if (!text) return gone
  return (
    <div className="grid gap-3">
      <div className="flex flex-wrap items-center gap-3 text-xs text-ink-3"><span>The message as sent, without each recipient’s signature and tracking.</span><button type="button" className="btn sm ml-auto" onClick={() => saveFile([text], `${id}.eml`, 'message/rfc822')}><Download aria-hidden />Download .eml</button></div>
      <CodeBlock text={text.length > mostShown ? `${text.slice(0, mostShown)}\n…` : text} wrap copy={text.length <= mostShown} max="max-h-[720px]" />
    </div>
  )
}

const mostShown = 200_000

const formatBytes = (n: number) => (n < 1024 ? `${n} B` : n < 1_048_576 ? `${(n / 1024).toFixed(1)} KB` : `${(n / 1_048_576).toFixed(1)} MB`)

export function Attachments({ content }: { content: Content }) {
  return (
    <With content={content}>
      {(body) =>
        body.attachments.length === 0 ? (
          <p className="text-ink-3">No attachments.</p>
        ) : (
          <ul className="card">
            {body.attachments.map((a, i) => (
              <li key={i} className="flex min-h-11 items-center gap-2 border-t border-line-soft px-4 py-2 first:border-t-0">
                <Paperclip aria-hidden className="text-ink-3" />
                <span className="min-w-0 flex-1 wrap-anywhere">{a.name}{a.contentId && <span className="chip ml-2">inline</span>}</span>
                <span className="flex-none text-xs text-ink-3">{a.contentType} · {formatBytes(a.size)}</span>
              </li>
            ))}
          </ul>
        )
      }
    </With>
  )
}
