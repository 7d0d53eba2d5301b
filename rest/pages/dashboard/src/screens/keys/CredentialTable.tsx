import { Link, useNavigate } from '@tanstack/react-router'
import type { LucideIcon } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { useAllPages, type Pages } from '@/api/graphql'
import { useSearchParams } from '@/app/searchParams'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { Badge } from '@/parts/Badge'
import { ConfirmDialog } from '@/parts/ConfirmDialog'
import { DataTable, type Column } from '@/parts/DataTable'
import { EmptyState } from '@/parts/EmptyState'
import { FilterBar, type Choice } from '@/parts/FilterBar'
import { Time } from '@/parts/Time'
import { active, lookOf } from './look'
import type { ApiKeyRowFragment } from './queries.gen'

type Credential = Pick<ApiKeyRowFragment, 'id' | 'name' | 'lastUsedAt' | 'createdAt' | 'revokedAt'> & { expiresAt?: string | null }

interface Props<Row> {
  label: string
  icon: LucideIcon
  list: Pages<Row>
  placeholder: string
  choices: Choice[]
  matches: (row: Row, q: string) => boolean
  noMatch: string
  empty: ReactNode
  // columns follow the name; ending columns follow the last use.
  columns: Column<Row>[]
  ending?: Column<Row>[]
  // page is the path of a row's own page.
  page?: (id: string) => string
  // actions follow the button that revokes.
  actions?: (row: Row) => ReactNode
  revokeLabel: string
  revokeEffect: string
  revoke: (row: Row) => Promise<unknown>
}

// CredentialTable lists API keys or SMTP credentials, and revokes them.
export function CredentialTable<Row extends Credential>({ label, icon, list, placeholder, choices, matches, noMatch, empty, columns, ending = [], page, actions, revokeLabel, revokeEffect, revoke }: Props<Row>) {
  const [address, change] = useSearchParams()
  const { can } = useViewer()
  const navigate = useNavigate()
  const [revoking, setRevoking] = useState<Row>()
  const q = address.q ?? ''
  const rows = q ? list.rows.filter((k) => matches(k, q)) : list.rows
  useAllPages(list, q !== '')

  const all: Column<Row>[] = [
    { key: 'state', head: 'Status', width: '104px', cell: (k) => { const look = lookOf(k); return <Badge tone={look.tone} icon={look.icon}>{look.word}</Badge> } },
    { key: 'name', head: 'Name', grows: true, cell: (k) => page ? <Link to={page(k.id)} className="font-medium hover:underline" title={`${k.name}\n${k.id}`}>{k.name}</Link> : <span className="font-medium" title={`${k.name}\n${k.id}`}>{k.name}</span> },
    ...columns,
    { key: 'used', head: 'Last used', width: '112px', from: 'slim', cell: (k) => <span className="text-xs text-ink-3">{k.lastUsedAt ? <Time at={k.lastUsedAt} /> : 'Never'}</span> },
    ...ending,
    { key: 'made', head: 'Created', width: '104px', from: 'wide', cell: (k) => <span className="text-xs text-ink-3"><Time at={k.createdAt} /></span> },
    ...(can('WRITE') ? [{ key: 'act', head: <span className="sr-only">Actions</span>, width: actions ? '140px' : '108px', right: true, cell: (k: Row) => (
      <span className="inline-flex items-center gap-1">
        {active(k) && <button type="button" className="btn sm" aria-label={`Revoke ${k.name}`} onClick={() => setRevoking(k)}>Revoke</button>}
        {actions?.(k)}
      </span>
    ) }] : []),
  ]
  return (
    <>
      <FilterBar placeholder={placeholder} choices={choices} />
      <DataTable
        label={label} rows={rows} columns={all} idOf={(k) => k.id} nameOf={(k) => k.name} onOpen={page && ((id) => { if (id) void navigate({ to: page(id) }) })} loading={list.isPending} error={list.error} retry={() => void list.refetch()} hasMore={list.hasNextPage} more={list.more}
        empty={q ? <EmptyState icon={icon} title="No matches" action={<button type="button" className="btn" onClick={() => change({ q: undefined })}>Clear filter</button>}>{noMatch}</EmptyState> : empty}
      />
      {revoking && (
        <ConfirmDialog
          title={`Revoke ${revoking.name}?`} label={revokeLabel} danger onClose={() => setRevoking(undefined)}
          run={async () => {
            await revoke(revoking)
            void list.refetch()
            toast.success(`${revoking.name} revoked`)
          }}
        >
          <p>{revokeEffect} This cannot be undone. {revoking.lastUsedAt ? <>Last used <Time at={revoking.lastUsedAt} />.</> : 'Never used.'}</p>
        </ConfirmDialog>
      )}
    </>
  )
}
