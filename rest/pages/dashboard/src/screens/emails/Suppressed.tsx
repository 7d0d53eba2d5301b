import { useQueries } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Ban } from 'lucide-react'
import { buildQueryKey } from '@/api/query'
import { query } from '@/api/graphql'
import { useViewer } from '@/app/viewer'
import { Time } from '@/parts/Time'
import { reasons } from '../suppressions/look'
import type { Email } from './EmailView'
import { EmailSuppression } from './queries.gen'

const mostChecked = 50

// useSuppressed finds the recipients of an email that are suppressed now.
export function useSuppressed(email: Email) {
  const { can, has } = useViewer()
  const addresses = [...new Set(email.recipients.map((r) => r.address))].slice(0, mostChecked)
  const enabled = has('suppression') && can('READ')
  const found = useQueries({
    queries: addresses.map((address) => ({
      queryKey: buildQueryKey(EmailSuppression, { email: address }), enabled,
      queryFn: ({ signal }: { signal: AbortSignal }) => query(EmailSuppression, { email: address }, signal),
    })),
  })
  return {
    isPending: enabled && found.some((f) => f.isPending),
    error: found.find((f) => f.error)?.error,
    list: found.flatMap((f, i) => (f.data?.suppressions.nodes ?? []).map((s) => ({ ...s, address: addresses[i] ?? '' }))),
    refetch: () => Promise.all(found.map((f) => f.refetch())),
  }
}

// SuppressedNotice explains which recipients are suppressed, since when and why.
export function SuppressedNotice({ list }: { list: ReturnType<typeof useSuppressed>['list'] }) {
  if (list.length === 0) return null
  return (
    <ul className="grid gap-1 rounded-control bg-bad-soft px-3 py-2 text-xs text-bad">
      {list.map((s) => (
        <li key={s.id} className="flex items-start gap-2">
          <Ban aria-hidden className="mt-px !size-3.5 flex-none" />
          <span className="min-w-0 wrap-anywhere"><b className="font-medium">{s.address}</b> was suppressed <Time at={s.createdAt} />: {reasons[s.reason].means} <Link className="link under" to={`/suppressions/${s.id}`}>View suppression</Link></span>
        </li>
      ))}
    </ul>
  )
}
