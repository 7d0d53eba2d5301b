import { useInfiniteQuery, keepPreviousData } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { MailOpen, MailSearch } from 'lucide-react'
import { nextPageOf } from '@/api/graphql'
import { rest, unwrap } from '@/api/rest'
import { useSearchParams } from '@/app/searchParams'
import { DataTable, type Column } from '@/parts/DataTable'
import { EmptyState } from '@/parts/EmptyState'
import { PageHead } from '@/parts/Page'
import { Time } from '@/parts/Time'
import { Filter } from '../inbox/Mails'
import { CapturedEmail } from './CapturedEmail'

type Line = Awaited<ReturnType<typeof readPage>>['captured_emails'][number]

const readPage = (to: string, cursor: string | null, signal: AbortSignal) => unwrap(rest.GET('/test/inbox', { params: { query: { limit: 50, ...(to ? { to } : {}), ...(cursor ? { cursor } : {}) } }, signal }))

const columns: Column<Line>[] = [
  {
    key: 'email', head: 'Email', cell: (m) => (
      <span className="block leading-5">
        <span className="flex gap-2"><Link to="/test-inbox" search={((old: Record<string, string>) => ({ ...old, open: m.id })) as never} className="min-w-0 flex-1 truncate font-medium">{m.subject || '(no subject)'}</Link><span className="text-xs text-ink-3"><Time at={m.received_at} /></span></span>
        <span className="block truncate text-ink-2">to {m.to[0] ?? '(no recipient)'}</span>
        <span className="block truncate text-xs text-ink-3">{m.snippet || m.from}</span>
      </span>
    ),
  },
]

// TestInbox has two panes: the captured emails of the account, and the open one.
export default function TestInbox() {
  const [address, change] = useSearchParams()
  const to = address.to ?? ''
  const pages = useInfiniteQuery({
    queryKey: ['test-inbox', to],
    queryFn: ({ pageParam, signal }) => readPage(to, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => (last.has_more ? last.next_cursor : null),
    placeholderData: keepPreviousData,
  })
  const rows = pages.data?.pages.flatMap((p) => p.captured_emails) ?? []
  const open = (id: string | null) => change({ open: id ?? undefined, tab: undefined })
  return (
    <>
      <PageHead title="Test inbox" />
      <div className="grid min-h-0 flex-1 md:grid-cols-[minmax(300px,400px)_minmax(0,1fr)]">
        <div className={`min-h-0 min-w-0 flex-col md:flex md:border-r md:border-line ${address.open ? 'hidden' : 'flex'}`}>
          <Filter to={to} go={(value) => change({ to: value, open: undefined })} />
          <DataTable
            label="Captured emails" rows={rows} columns={columns} height={76} idOf={(m) => m.id} nameOf={(m) => m.subject} open={address.open} onOpen={open}
            loading={pages.isPending} error={pages.error} retry={() => void pages.refetch()} more={nextPageOf(pages)} hasMore={pages.hasNextPage}
            empty={to ? (
              <EmptyState icon={MailSearch} title="No emails to this address" action={<button type="button" className="btn" onClick={() => change({ to: undefined })}>Show all</button>} />
            ) : (
              <EmptyState icon={MailOpen} title="Waiting for emails">Emails that you send with a test key appear here. Create a key with the mode “test” in live mode, under API keys.</EmptyState>
            )}
          />
        </div>
        <div className={`min-h-0 min-w-0 overflow-auto bg-raised ${address.open ? '' : 'max-md:hidden'}`} tabIndex={-1}>
          {address.open ? <CapturedEmail key={address.open} id={address.open} onClose={() => open(null)} /> : <p className="px-6 py-16 text-center text-ink-3">Select an email by clicking it, or with <kbd className="key">j</kbd> <kbd className="key">k</kbd> and <kbd className="key">Enter</kbd>.</p>}
        </div>
      </div>
    </>
  )
}
