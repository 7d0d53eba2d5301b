import { Link } from '@tanstack/react-router'
import { ArrowDownLeft, ArrowUpRight } from 'lucide-react'
import { useGraphQL } from '@/api/graphql'
import { useViewer } from '@/app/viewer'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Time } from '@/parts/Time'
import { ReceivedThread, SentThread } from './queries.gen'
import { idsIn, threadOf, wordsOf, type Letter } from './thread'

interface Named {
  id: string
  from: string
  subject: string
  receivedAt: string
  messageId: string | null
  inReplyTo: string | null
  references: string[]
}

const letterOf = (m: Named): Letter => ({ id: m.id, sent: false, who: m.from, subject: m.subject, at: m.receivedAt, messageId: m.messageId ?? '', answers: [...m.references, ...(m.inReplyTo ? [m.inReplyTo] : [])] })

const address = (from: string) => /<([^<>]+)>\s*$/.exec(from)?.[1] ?? from.trim()

// useConversation searches emails by the words of the subject and selects those of the thread.
export function useConversation(mail: Named) {
  const viewer = useViewer()
  const query = wordsOf(mail.subject) || null
  const received = useGraphQL(ReceivedThread, { filter: query ? { query } : { from: address(mail.from) } })
  const sent = useGraphQL(SentThread, { filter: { query, to: address(mail.from) } }, { enabled: viewer.has('sending') && viewer.can('READ_SENT') })
  const others = [
    ...(received.data?.receivedEmails.nodes ?? []).map(letterOf),
    ...(sent.data?.emails.nodes ?? []).map((e): Letter => ({
      id: e.id, sent: true, who: e.to.join(', '), subject: e.subject, at: e.createdAt, messageId: e.messageId,
      answers: e.content.headers.filter((h) => /^(in-reply-to|references)$/i.test(h.name)).flatMap((h) => idsIn(h.value)),
    })),
  ]
  return { letters: threadOf(letterOf(mail), others), error: received.error ?? sent.error, retry: () => { void received.refetch(); void sent.refetch() } }
}

// Conversation lists the emails of a thread, oldest first.
export function Conversation({ letters, open, error, retry }: { letters: Letter[]; open: string; error: unknown; retry: () => void }) {
  return (
    <div className="grid gap-3">
      {error ? <ErrorAlert error={error} retry={retry} /> : null}
      <ol className="card">
        {letters.map((l) => {
          const Icon = l.sent ? ArrowUpRight : ArrowDownLeft
          return (
            <li key={l.id} className="border-t border-line-soft first:border-t-0">
              <Link to={l.sent ? `/emails/${l.id}` : `/received/${l.id}`} aria-current={l.id === open ? 'true' : undefined} className="flex min-h-12 items-center gap-3 px-4 py-2 hover:bg-hover aria-[current]:bg-accent-soft">
                <Icon aria-label={l.sent ? 'Sent' : 'Received'} className={l.sent ? 'text-accent' : 'text-ink-3'} />
                <span className="min-w-0 flex-1"><span className="block truncate">{l.sent ? `To ${l.who}` : l.who}</span><span className="block truncate text-xs text-ink-3">{l.subject || '(no subject)'}</span></span>
                <span className="text-xs text-ink-3"><Time at={l.at} /></span>
              </Link>
            </li>
          )
        })}
      </ol>
    </div>
  )
}
