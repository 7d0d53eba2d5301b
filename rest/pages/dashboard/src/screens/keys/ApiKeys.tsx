import { Link, useNavigate } from '@tanstack/react-router'
import { Copy, KeyRound, Pencil } from 'lucide-react'
import { useEffect, useState, type ReactNode } from 'react'
import { useQueryClient } from '@tanstack/react-query'
import { usePages } from '@/api/graphql'
import { useSearchParams } from '@/app/searchParams'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { Badge } from '@/parts/Badge'
import { copyText } from '@/parts/CopyButton'
import { DataTable, type Column } from '@/parts/DataTable'
import { EmptyState } from '@/parts/EmptyState'
import { FilterBar, termValue, parseTerms } from '@/parts/FilterBar'
import { Menu } from '@/parts/Menu'
import { Time } from '@/parts/Time'
import { RenameKey, RevokeKey } from './Acts'
import { DomainNames, useDomains } from './domains'
import { active, lookOf, scopes } from './look'
import { ApiKeyList, type ApiKeyRowFragment } from './queries.gen'

type Row = ApiKeyRowFragment

export const stateChoice = { field: 'is', label: 'Any status', values: [{ value: 'active', name: 'Active' }, { value: 'expired', name: 'Expired' }, { value: 'revoked', name: 'Revoked' }] }
const choices = [stateChoice, { field: 'scope', label: 'Any scope', values: Object.values(scopes).map((s) => ({ value: s.value, name: s.word })) }]

function matches(k: Row, q: string): boolean {
  const is = termValue(q, 'is')
  const scope = termValue(q, 'scope')
  const words = parseTerms(q).filter((t) => t.field !== 'is' && t.field !== 'scope').map((t) => t.text.toLowerCase())
  return (!is || lookOf(k).word.toLowerCase() === is) && (!scope || scopes[k.scope].value === scope) && words.every((w) => k.name.toLowerCase().includes(w) || k.prefix.toLowerCase().startsWith(w) || k.id === w)
}

export function ApiKeys({ create }: { create?: ReactNode }) {
  const [address, change] = useSearchParams()
  const { can } = useViewer()
  const navigate = useNavigate()
  const queries = useQueryClient()
  const [revoking, setRevoking] = useState<Row>()
  const [renaming, setRenaming] = useState<Row>()
  const domains = useDomains()
  const list = usePages(ApiKeyList, { first: 100 }, (d) => d.apiKeys)
  const q = address.q ?? ''
  const rows = q ? list.rows.filter((k) => matches(k, q)) : list.rows
  useEffect(() => {
    if (q && list.hasNextPage && !list.isFetching && !list.error) void list.fetchNextPage()
  }, [q, list.hasNextPage, list.isFetching, list.error])

  const columns: Column<Row>[] = [
    { key: 'state', head: 'Status', width: '104px', cell: (k) => { const look = lookOf(k); return <Badge tone={look.tone} icon={look.icon}>{look.word}</Badge> } },
    { key: 'name', head: 'Name', grows: true, cell: (k) => <Link to={`/keys/${k.id}` as string} className="font-medium hover:underline" title={`${k.name}\n${k.id}`}>{k.name}</Link> },
    { key: 'prefix', head: 'Key', width: '152px', from: 'mid', cell: (k) => <code className="text-ink-2">{k.prefix}…</code> },
    { key: 'scope', head: 'Scope', width: '88px', from: 'slim', cell: (k) => <span className="chip" title={scopes[k.scope].means}>{scopes[k.scope].word}</span> },
    { key: 'domains', head: 'Domains', width: '168px', from: 'vast', cell: (k) => <DomainNames ids={k.domainIds} domains={domains} /> },
    { key: 'used', head: 'Last used', width: '112px', from: 'slim', cell: (k) => <span className="text-xs text-ink-3">{k.lastUsedAt ? <Time at={k.lastUsedAt} /> : 'Never'}</span> },
    { key: 'ends', head: 'Expires', width: '112px', from: 'wide', cell: (k) => <span className="text-xs text-ink-3">{k.revokedAt ? <Time at={k.revokedAt} /> : k.expiresAt ? <Time at={k.expiresAt} /> : 'Never'}</span> },
    { key: 'made', head: 'Created', width: '104px', from: 'wide', cell: (k) => <span className="text-xs text-ink-3"><Time at={k.createdAt} /></span> },
    ...(can('WRITE') ? [{ key: 'act', head: <span className="sr-only">Actions</span>, width: '140px', right: true, cell: (k: Row) => (
      <span className="inline-flex items-center gap-1">
        {active(k) && <button type="button" className="btn sm" aria-label={`Revoke ${k.name}`} onClick={() => setRevoking(k)}>Revoke</button>}
        <Menu label={`More actions for ${k.name}`} entries={[{ name: 'Rename', icon: Pencil, run: () => setRenaming(k) }, { name: 'Copy ID', icon: Copy, run: () => void copyText(k.id).then(() => toast.success('ID copied'), toast.error) }]} />
      </span>
    ) }] : []),
  ]
  const empty = q
    ? <EmptyState icon={KeyRound} title="No matches" action={<button type="button" className="btn" onClick={() => change({ q: undefined })}>Clear filter</button>}>No API keys match this filter.</EmptyState>
    : <EmptyState icon={KeyRound} title="No API keys yet" action={create}>Your app needs an API key to use the API. Send it as Authorization: Bearer.</EmptyState>
  return (
    <>
      <FilterBar placeholder="Name or start of the key" choices={choices} />
      <DataTable label="API keys" rows={rows} columns={columns} idOf={(k) => k.id} nameOf={(k) => k.name} onOpen={(id) => id && void navigate({ to: `/keys/${id}` as string })} loading={list.isPending} error={list.error} retry={() => void list.refetch()} hasMore={list.hasNextPage} more={() => !list.isFetching && void list.fetchNextPage()} empty={empty} />
      {renaming && <RenameKey apiKey={renaming} onClose={() => setRenaming(undefined)} renamed={() => void queries.invalidateQueries({ queryKey: [ApiKeyList.name] })} />}
      {revoking && <RevokeKey apiKey={revoking} onClose={() => setRevoking(undefined)} revoked={() => void queries.invalidateQueries({ queryKey: [ApiKeyList.name] })} />}
    </>
  )
}
