import { Link } from '@tanstack/react-router'
import { Users } from 'lucide-react'
import { useSearchParams } from '@/app/searchParams'
import { useIsNarrow } from '@/app/viewport'
import { DataTable, type Column } from '@/parts/DataTable'
import { EmptyState } from '@/parts/EmptyState'
import { FilterBar } from '@/parts/FilterBar'
import { Sheet, SplitView, adjacentRows } from '@/parts/Sheet'
import { Time } from '@/parts/Time'
import { AccountSheet, AccountState } from './Account'
import { statuses, useAccounts, usePlans, type Account } from './data'

const columnsOf = (planName: (id: string) => string): Column<Account>[] => [
  {
    key: 'name', head: 'Name', width: '26%', grows: true,
    cell: (a) => (
      <>
        <Link to={`/operator/accounts/${a.id}`} className="block truncate font-medium">{a.name || a.id}</Link>
        <span className="block truncate text-xs text-ink-3 @min-[460px]:hidden">{a.email}</span>
      </>
    ),
  },
  { key: 'email', head: 'Email', from: 'slim', cell: (a) => <span className="text-ink-2">{a.email}</span> },
  { key: 'state', head: 'Status', width: '150px', cell: (a) => <AccountState account={a} /> },
  { key: 'plan', head: 'Plan', width: '110px', from: 'mid', cell: (a) => planName(a.planId) },
  { key: 'at', head: 'Created', width: '120px', right: true, from: 'mid', cell: (a) => <span className="text-ink-3"><Time at={a.createdAt} /></span> },
]

const select = 'h-[34px] max-w-40 rounded-control border border-line bg-raised px-2 text-ink-2 hover:bg-hover'

export function Accounts() {
  const narrow = useIsNarrow()
  const [address, change] = useSearchParams()
  const plans = usePlans()
  const status = statuses.find((s) => s.value === address.status?.toUpperCase())?.value
  const list = useAccounts({ query: address.q || null, plan: address.plan || null, status: status ?? null })
  const columns = columnsOf((id) => plans.data?.find((p) => p.id === id)?.name ?? id)
  const open = (id: string | null) => change({ open: id ?? undefined })
  const filtered = Boolean(address.q || address.plan || status)
  return (
    <>
      <FilterBar placeholder="Email, name or account ID">
        <select aria-label="Status" value={status ?? ''} onChange={(e) => change({ status: e.target.value.toLowerCase(), open: undefined })} className={select}>
          <option value="">Status</option>
          {statuses.map((s) => <option key={s.value} value={s.value}>{s.name}</option>)}
        </select>
        <select aria-label="Plan" value={address.plan ?? ''} onChange={(e) => change({ plan: e.target.value, open: undefined })} className={select}>
          <option value="">Plan</option>
          {plans.data?.map((p) => <option key={p.id} value={p.id}>{p.name}</option>)}
        </select>
      </FilterBar>
      <SplitView
        sheet={address.open && (
          <Sheet label="Account" head={<h2 className="truncate">Account</h2>} page={`/operator/accounts/${address.open}`} onClose={() => open(null)} {...adjacentRows(list.rows.map((a) => a.id), address.open, open)}>
            <AccountSheet key={address.open} id={address.open} />
          </Sheet>
        )}
      >
        <DataTable
          label="Accounts" rows={list.rows} columns={columns} idOf={(a) => a.id} nameOf={(a) => a.name} height={narrow ? 52 : 36} open={address.open} onOpen={open}
          loading={list.isPending} error={list.error} retry={() => void list.refetch()} more={list.more} hasMore={list.hasNextPage}
          empty={<EmptyState icon={Users} title={filtered ? 'No accounts match' : 'No accounts yet'} command={filtered ? undefined : 'postrider admin account create --name Example --email ada@example.com'} action={filtered ? <button type="button" className="btn" onClick={() => change({ q: undefined, plan: undefined, status: undefined })}>Clear filter</button> : undefined} />}
        />
      </SplitView>
    </>
  )
}
