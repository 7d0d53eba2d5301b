import { Link } from '@tanstack/react-router'
import { MailOpen, MailSearch, X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useSearchParams } from '@/app/searchParams'
import { DataTable, NewRowsNotice, type Column } from '@/parts/DataTable'
import { EmptyState } from '@/parts/EmptyState'
import { Time } from '@/parts/Time'
import { useCaught, useNewest, type Line } from './caught'
import { Mail } from './Mail'

const columns: Column<Line>[] = [
  {
    key: 'mail', head: 'Email', cell: (m) => (
      <span className="block leading-5">
        <span className="flex gap-2"><Link to="/inbox" search={((old: Record<string, string>) => ({ ...old, open: String(m.id) })) as never} className="min-w-0 flex-1 truncate font-medium">{m.subject || '(no subject)'}</Link><span className="text-xs text-ink-3"><Time at={m.received_at} /></span></span>
        <span className="block truncate text-ink-2">to {m.rcpt_to[0] ?? '(no recipient)'}{m.rcpt_to.length > 1 && ` and ${m.rcpt_to.length - 1} more`}</span>
        <span className="block truncate text-xs text-ink-3">{m.snippet || m.from}</span>
      </span>
    ),
  },
]

// Mails has two panes: the captured emails, and the open one.
export function Mails({ base }: { base: string }) {
  const [address, change] = useSearchParams()
  const to = address.to ?? ''
  const list = useCaught(base, to)
  const newest = useNewest(base, to)
  const [over, setOver] = useState(false)
  const shown = list.rows[0]?.id ?? 0
  const fresh = list.isSuccess ? (newest.data?.mails.filter((m) => m.id > shown).length ?? 0) : 0
  const { refetch } = list
  // New mail appears automatically, except under the pointer.
  useEffect(() => {
    if (fresh > 0 && !over) void refetch()
  }, [fresh, over, refetch])
  const gone = list.isSuccess && newest.data?.mails.length === 0 && list.rows.length > 0
  useEffect(() => {
    if (gone) void refetch()
  }, [gone, refetch])
  const open = (id: string | null) => change({ open: id ?? undefined })
  return (
    <div className="grid min-h-0 flex-1 md:grid-cols-[minmax(300px,400px)_minmax(0,1fr)]">
      <div className={`min-h-0 min-w-0 flex-col md:flex md:border-r md:border-line ${address.open ? 'hidden' : 'flex'}`} onPointerEnter={() => setOver(true)} onPointerLeave={() => setOver(false)}>
        <Filter to={to} go={(value) => change({ to: value, open: undefined })} />
        <DataTable
          label="Captured emails" rows={list.rows} columns={columns} height={76} idOf={(m) => String(m.id)} nameOf={(m) => m.subject} open={address.open} onOpen={open}
          loading={list.isPending} error={list.error} retry={() => void list.refetch()} more={list.more} hasMore={list.hasNextPage}
          above={<NewRowsNotice count={over ? fresh : 0} show={() => void list.refetch()} />}
          empty={to ? (
            <EmptyState icon={MailSearch} title="No emails to this address" action={<button type="button" className="btn" onClick={() => change({ to: undefined })}>Show all</button>} />
          ) : (
            <EmptyState icon={MailOpen} title="Waiting for emails" command={{ email: {} }}>Emails you send appear here. Click a button above, or run:</EmptyState>
          )}
        />
      </div>
      <div className={`min-h-0 min-w-0 overflow-auto bg-raised ${address.open ? '' : 'max-md:hidden'}`} tabIndex={-1}>
        {address.open ? <Mail key={address.open} base={base} id={address.open} onClose={() => open(null)} /> : <p className="px-6 py-16 text-center text-ink-3">Select an email by clicking it, or with <kbd className="key">j</kbd> <kbd className="key">k</kbd> and <kbd className="key">Enter</kbd>.</p>}
      </div>
    </div>
  )
}

export function Filter({ to, go }: { to: string; go: (to: string) => void }) {
  const [text, setText] = useState(to)
  const sent = useRef(to)
  useEffect(() => {
    if (to !== sent.current) setText(to)
    sent.current = to
  }, [to])
  useEffect(() => {
    const value = text.trim()
    if (value === sent.current) return
    const timer = setTimeout(() => {
      sent.current = value
      go(value)
    }, 300)
    return () => clearTimeout(timer)
  }, [text, go])
  return (
    <div className="flex flex-none items-center gap-2 border-b border-line p-3">
      <input data-filter type="search" aria-label="Filter by recipient" placeholder="Filter by recipient" value={text} onChange={(e) => setText(e.target.value)} spellCheck={false} autoComplete="off" className="input [&::-webkit-search-cancel-button]:hidden" />
      {text && <button type="button" className="btn quiet square" aria-label="Clear filter" onClick={() => setText('')}><X aria-hidden /></button>}
    </div>
  )
}
