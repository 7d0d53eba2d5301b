import { Link } from '@tanstack/react-router'
import { Inbox, Paperclip, Trash2 } from 'lucide-react'
import { useEffect, useState } from 'react'
import { usePages } from '@/api/graphql'
import { useLive } from '@/api/live'
import { unwrap, rest } from '@/api/rest'
import { useSearchParams } from '@/app/searchParams'
import { useIsNarrow } from '@/app/viewport'
import { useViewer } from '@/app/viewer'
import { BulkBar, type BulkAction } from '@/parts/BulkBar'
import { useColumns } from '@/parts/ColumnMenu'
import { DataTable, NewRowsNotice, type Column } from '@/parts/DataTable'
import { EmptyState } from '@/parts/EmptyState'
import { fetchAll } from '@/parts/fetchAll'
import { FilterBar } from '@/parts/FilterBar'
import { filterError } from '@/parts/filterTerms'
import { ForeignText } from '@/parts/ForeignText'
import { PageHead } from '@/parts/Page'
import { Sheet, SplitView, adjacentRows } from '@/parts/Sheet'
import { Time } from '@/parts/Time'
import { hints } from './filter'
import { Message } from './Message'
import { ReceivedList as List, type ReceivedListQuery } from './queries.gen'
import { Sender } from './Verdict'

type Row = ReceivedListQuery['receivedEmails']['nodes'][number]

const allColumns: Column<Row>[] = [
  { key: 'from', head: 'From', width: '30%', grows: true, cell: (r) => (
    <>
      <Link to={`/received/${r.id}`} className="block truncate font-medium" title={r.from}><ForeignText text={r.from || r.mailFrom || '(no sender)'} /></Link>
      <span className="block truncate text-xs text-ink-3 @min-[460px]:hidden"><Time at={r.receivedAt} /> · <ForeignText text={r.subject || '(no subject)'} /></span>
    </>
  ) },
  { key: 'subject', head: 'Subject', from: 'slim', cell: (r) => <>{r.attachmentCount > 0 && <Paperclip aria-label={r.attachmentCount === 1 ? '1 attachment' : `${r.attachmentCount} attachments`} className="mr-1 inline !size-3.5 text-ink-3" />}{r.subject ? <ForeignText text={r.subject} /> : <span className="text-ink-3">(no subject)</span>}</> },
  { key: 'to', head: 'To', optional: 'To', width: '22%', from: 'mid', cell: (r) => <span className="text-ink-2">{r.rcptTo}</span> },
  { key: 'sender', head: 'Authentication', optional: 'Authentication', width: '150px', from: 'wide', cell: (r) => <Sender {...r.authentication} /> },
  { key: 'at', head: 'Received', width: '110px', right: true, from: 'slim', cell: (r) => <span className="text-ink-3"><Time at={r.receivedAt} /></span> },
]

const nameOf = (r: Row) => `${r.from || r.mailFrom || '(no sender)'}: ${r.subject || '(no subject)'}`

const remove: BulkAction = {
  name: 'Delete', icon: Trash2, danger: true, description: 'Deletes the messages and their attachments. Webhook deliveries are kept.',
  run: (id) => unwrap(rest.DELETE('/received-emails/{id}', { params: { path: { id } } })),
}

export default function ReceivedList() {
  const [address, change] = useSearchParams()
  const { columns, menu } = useColumns(allColumns)
  const viewer = useViewer()
  const narrow = useIsNarrow()
  const q = address.q ?? ''
  const filter = q ? { query: q } : undefined
  const list = usePages(List, { filter }, (d) => d.receivedEmails, { keepPrevious: true })
  const wrong = filterError(list.error)
  const [fresh, setFresh] = useState(0)
  useLive(['email.received'], () => setFresh((n) => n + 1))
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  useEffect(() => setSelected(new Set()), [address.q])
  const all = (signal: AbortSignal, report: (read: number) => void) =>
    fetchAll(List, { filter }, (d) => d.receivedEmails, signal, report).then(({ nodes, more }) => ({ items: nodes.map((r) => ({ id: r.id, name: nameOf(r) })), more }))
  const may = viewer.can('WRITE')
  const open = (id: string | null) => change({ open: id ?? undefined })
  const { previous, next } = adjacentRows(list.rows.map((r) => r.id), address.open, open)
  const { domain, inboundUrl } = viewer.development ?? {}
  return (
    <>
      <PageHead title="Received">
        <Link to="/received/rules" className="btn">Address rules</Link>
      </PageHead>
      <FilterBar placeholder="Address, words or ID" hints={hints} error={wrong}>{menu}</FilterBar>
      <SplitView
        sheet={address.open && (
          <Sheet label="Received email" head={<h2 className="truncate">Received email</h2>} page={`/received/${address.open}`} onClose={() => open(null)} previous={previous} next={next}>
            <Message key={address.open} id={address.open} gone={() => { open(null); void list.refetch() }} />
          </Sheet>
        )}
      >
        <DataTable
          label="Received emails" rows={list.rows} columns={columns} idOf={(r) => r.id} nameOf={(r) => r.subject || r.from} height={narrow ? 52 : 36} open={address.open} onOpen={open}
          loading={list.isPending} error={wrong ? null : list.error} retry={() => void list.refetch()} more={list.more} hasMore={list.hasNextPage}
          above={<NewRowsNotice count={fresh} show={() => { setFresh(0); void list.refetch() }} />} selected={may ? selected : undefined} onSelect={may ? setSelected : undefined}
          empty={wrong ? null : filter ? (
            <EmptyState icon={Inbox} title="No matches" action={<button type="button" className="btn" onClick={() => change({ q: undefined })}>Clear filter</button>}>No received emails match this filter. Search finds beginnings of words and parts of addresses in all emails, and parts of words in the newest 10,000.</EmptyState>
          ) : (
            <EmptyState icon={Inbox} title="No received emails yet" command={commandFor(domain, inboundUrl)} action={<Link to="/domains" className="btn">View domains</Link>}>
              {domain && inboundUrl ? 'Send an email to any address of your development domain:' : 'Enable receiving for a domain, publish its MX record, and send an email to any of its addresses.'}
            </EmptyState>
          )}
        />
        <BulkBar
          ids={[...selected]} actions={may ? [remove] : []} onSelect={setSelected} noun={['received email', 'received emails']} loadAll={list.hasNextPage || selected.size < list.rows.length ? all : undefined} onFinish={() => void list.refetch()}
          nameOf={(id) => { const r = list.rows.find((x) => x.id === id); return r ? nameOf(r) : id }}
        />
      </SplitView>
    </>
  )
}

function commandFor(domain: string | null | undefined, inboundUrl: string | null | undefined): string | undefined {
  if (!domain || !inboundUrl) return undefined
  return `printf 'From: bob@example.net\\nTo: support@${domain}\\nSubject: Hello\\n\\nHello.\\n' |\n  curl ${inboundUrl} --mail-from bob@example.net --mail-rcpt support@${domain} --crlf --upload-file -`
}
