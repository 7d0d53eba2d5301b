import { Server } from 'lucide-react'
import { useEffect, useState, type ReactNode } from 'react'
import { useQueryClient } from '@tanstack/react-query'
import { usePages } from '@/api/graphql'
import { unwrap, rest } from '@/api/rest'
import { useSearchParams } from '@/app/searchParams'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { Badge } from '@/parts/Badge'
import { ConfirmDialog } from '@/parts/ConfirmDialog'
import { CopyButton } from '@/parts/CopyButton'
import { DataTable, type Column } from '@/parts/DataTable'
import { EmptyState } from '@/parts/EmptyState'
import { FilterBar, termValue, parseTerms } from '@/parts/FilterBar'
import { Time } from '@/parts/Time'
import { DomainNames, useDomains } from './domains'
import { active, lookOf } from './look'
import { SmtpCredentialList, type SmtpCredentialRowFragment } from './queries.gen'

type Row = SmtpCredentialRowFragment

const choices = [{ field: 'is', label: 'Any status', values: [{ value: 'active', name: 'Active' }, { value: 'revoked', name: 'Revoked' }] }]

function matches(k: Row, q: string): boolean {
  const is = termValue(q, 'is')
  const words = parseTerms(q).filter((t) => t.field !== 'is').map((t) => t.text.toLowerCase())
  return (!is || lookOf(k).word.toLowerCase() === is) && words.every((w) => k.name.toLowerCase().includes(w) || k.id === w)
}

export const tlsWord = (tls: string) => (tls.toUpperCase() === 'IMPLICIT' ? 'Implicit TLS' : 'STARTTLS')

export function Credentials({ create }: { create?: ReactNode }) {
  const [address, change] = useSearchParams()
  const { can } = useViewer()
  const queries = useQueryClient()
  const [revoking, setRevoking] = useState<Row>()
  const domains = useDomains()
  const list = usePages(SmtpCredentialList, { first: 100 }, (d) => d.smtpCredentials)
  const q = address.q ?? ''
  const rows = q ? list.rows.filter((k) => matches(k, q)) : list.rows
  useEffect(() => {
    if (q && list.hasNextPage && !list.isFetching && !list.error) void list.fetchNextPage()
  }, [q, list.hasNextPage, list.isFetching, list.error])

  const columns: Column<Row>[] = [
    { key: 'state', head: 'Status', width: '104px', cell: (k) => { const look = lookOf(k); return <Badge tone={look.tone} icon={look.icon}>{look.word}</Badge> } },
    { key: 'name', head: 'Name', grows: true, cell: (k) => <span className="font-medium" title={`${k.name}\n${k.id}`}>{k.name}</span> },
    { key: 'server', head: 'Server', width: '232px', from: 'mid', cell: (k) => <span className="flex min-w-0 items-center gap-0.5" title={tlsWord(k.tls)}><code className="truncate text-ink-2">{k.host}:{k.port}</code><CopyButton text={`${k.host}:${k.port}`} label="Copy host and port" /></span> },
    { key: 'user', head: 'Username', width: '124px', from: 'wide', cell: (k) => <span className="flex items-center gap-0.5"><code className="text-ink-2">{k.username}</code><CopyButton text={k.username} label="Copy username" /></span> },
    { key: 'domains', head: 'Domains', width: '160px', from: 'wide', cell: (k) => <DomainNames ids={k.domainIds} domains={domains} /> },
    { key: 'used', head: 'Last used', width: '112px', from: 'slim', cell: (k) => <span className="text-xs text-ink-3">{k.lastUsedAt ? <Time at={k.lastUsedAt} /> : 'Never'}</span> },
    { key: 'made', head: 'Created', width: '104px', from: 'wide', cell: (k) => <span className="text-xs text-ink-3"><Time at={k.createdAt} /></span> },
    ...(can('WRITE') ? [{ key: 'act', head: <span className="sr-only">Actions</span>, width: '108px', right: true, cell: (k: Row) => active(k) && <button type="button" className="btn sm" aria-label={`Revoke ${k.name}`} onClick={() => setRevoking(k)}>Revoke</button> }] : []),
  ]
  const empty = q
    ? <EmptyState icon={Server} title="No matches" action={<button type="button" className="btn" onClick={() => change({ q: undefined })}>Clear filter</button>}>No credentials match this filter.</EmptyState>
    : <EmptyState icon={Server} title="No SMTP credentials yet" action={create}>For apps that send over SMTP. You get a server, a username and a password, which is shown once.</EmptyState>
  return (
    <>
      <FilterBar placeholder="Name" choices={choices} />
      <DataTable label="SMTP credentials" rows={rows} columns={columns} idOf={(k) => k.id} nameOf={(k) => k.name} loading={list.isPending} error={list.error} retry={() => void list.refetch()} hasMore={list.hasNextPage} more={() => !list.isFetching && void list.fetchNextPage()} empty={empty} />
      {revoking && (
        <ConfirmDialog
          title={`Revoke ${revoking.name}?`} label="Revoke credential" danger onClose={() => setRevoking(undefined)}
          run={async () => {
            await unwrap(rest.DELETE('/smtp-credentials/{id}', { params: { path: { id: revoking.id } } }))
            void queries.invalidateQueries({ queryKey: [SmtpCredentialList.name] })
            toast.success(`${revoking.name} revoked`)
          }}
        >
          <p>Apps that use it can no longer sign in. This cannot be undone. {revoking.lastUsedAt ? <>Last used <Time at={revoking.lastUsedAt} />.</> : 'Never used.'}</p>
        </ConfirmDialog>
      )}
    </>
  )
}
