import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { KeyRound } from 'lucide-react'
import { useState, type FormEvent } from 'react'
import { now } from '@/api/clock'
import { nextPageOf } from '@/api/graphql'
import { newIdempotencyKey, rest, unwrap } from '@/api/rest'
import type { components } from '@/api/rest.gen'
import { toast } from '@/app/toasts'
import { lookOf } from '@/screens/keys/look'
import { networkErrors, NetworksField, parseNetworks } from '@/screens/keys/Networks'
import { Badge } from '@/parts/Badge'
import { ConfirmDialog } from '@/parts/ConfirmDialog'
import { DataTable, type Column } from '@/parts/DataTable'
import { Dialog } from '@/parts/Dialog'
import { EmptyState } from '@/parts/EmptyState'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Field, keepSecret, OneTimeSecret, useWrite } from '@/parts/Form'
import { Time } from '@/parts/Time'

type Key = components['schemas']['OperatorKeyRecord']

const listKey = 'operator keys'
const ends = [{ days: 0, name: 'Never' }, { days: 30, name: 'In 30 days' }, { days: 90, name: 'In 90 days' }, { days: 365, name: 'In 1 year' }]
const look = (k: Key) => lookOf({ revokedAt: k.revoked_at, expiresAt: k.expires_at })

export function Keys() {
  const queries = useQueryClient()
  const [creating, setCreating] = useState(false)
  const [revoking, setRevoking] = useState<Key>()
  const list = useInfiniteQuery({
    queryKey: [listKey], initialPageParam: '',
    queryFn: ({ pageParam, signal }) => unwrap(rest.GET('/operator/keys', { params: { query: { limit: 50, ...(pageParam ? { cursor: pageParam } : {}) } }, signal })),
    getNextPageParam: (last) => last.next_cursor ?? undefined,
  })
  const again = () => queries.invalidateQueries({ queryKey: [listKey] })
  const create = <button type="button" className="btn primary" onClick={() => setCreating(true)}>Create operator key</button>
  const columns: Column<Key>[] = [
    { key: 'name', head: 'Name', width: '28%', grows: true, cell: (k) => <b className="block truncate font-medium">{k.name}</b> },
    { key: 'state', head: 'Status', width: '110px', cell: (k) => <Badge tone={look(k).tone} icon={look(k).icon}>{look(k).word}</Badge> },
    { key: 'prefix', head: 'Key', width: '152px', from: 'mid', cell: (k) => <code className="text-ink-2">{k.prefix}…</code> },
    { key: 'networks', head: 'Networks', from: 'wide', cell: (k) => <span className="truncate text-ink-2">{k.allowed_ips.join(', ') || 'all'}</span> },
    { key: 'used', head: 'Last used', width: '112px', right: true, from: 'slim', cell: (k) => <span className="text-ink-3">{k.last_used_at ? <Time at={k.last_used_at} /> : 'Never'}</span> },
    { key: 'ends', head: 'Expires', width: '112px', right: true, from: 'wide', cell: (k) => <span className="text-ink-3">{k.expires_at ? <Time at={k.expires_at} /> : 'Never'}</span> },
    { key: 'act', head: <span className="sr-only">Actions</span>, width: '90px', right: true, cell: (k) => !k.revoked_at && <button type="button" className="btn sm" aria-label={`Revoke ${k.name}`} onClick={() => setRevoking(k)}>Revoke</button> },
  ]
  return (
    <>
      <div className="flex flex-wrap items-center gap-2 px-4 py-3 md:px-5">
        <p className="min-w-0 flex-1 text-ink-2">Programs manage accounts, plans and users with an operator key, and act for any account with the header <code>Postrider-Account</code>.</p>
        {create}
      </div>
      <DataTable
        label="Operator keys" rows={list.data?.pages.flatMap((p) => p.operator_keys) ?? []} columns={columns} idOf={(k) => k.id} nameOf={(k) => k.name}
        loading={list.isPending} error={list.error} retry={() => void list.refetch()} more={nextPageOf(list)} hasMore={list.hasNextPage}
        empty={<EmptyState icon={KeyRound} title="No operator keys yet" command="postrider admin operator-key create --name provisioning" />}
      />
      {revoking && (
        <ConfirmDialog
          title={`Revoke ${revoking.name}?`} label="Revoke key" danger onClose={() => setRevoking(undefined)}
          run={async () => {
            await unwrap(rest.DELETE('/operator/keys/{id}', { params: { path: { id: revoking.id } } }))
            await again()
            toast.success(`${revoking.name} revoked`)
          }}
        >
          Requests with this key will fail within five seconds. This cannot be undone.
        </ConfirmDialog>
      )}
      {creating && <CreateOperatorKey onClose={() => setCreating(false)} made={() => void again()} />}
    </>
  )
}

function CreateOperatorKey({ onClose, made }: { onClose: () => void; made: () => void }) {
  const [name, setName] = useState('')
  const [days, setDays] = useState(0)
  const [networks, setNetworks] = useState('')
  const [secret, setSecret] = useState<string>()
  const [once, setOnce] = useState(newIdempotencyKey)
  const create = useWrite(() =>
    unwrap(rest.POST('/operator/keys', { params: { header: { 'Idempotency-Key': once } }, body: { name: name.trim(), allowed_ips: parseNetworks(networks), expires_at: days ? new Date(now() + days * 86_400_000).toISOString() : null } })),
  )
  const wrongNetworks = networkErrors(create.fieldErrors, parseNetworks(networks))
  async function submit(e: FormEvent) {
    e.preventDefault()
    const answer = await create.run()
    if (!answer) return setOnce(newIdempotencyKey())
    setSecret(answer.secret)
    made()
  }
  if (secret) {
    return (
      <Dialog wide keep={keepSecret} title={`Operator key ${name.trim()}`} onClose={onClose} actions={<button type="button" className="btn primary" onClick={onClose}>I’ve copied it</button>}>
        <OneTimeSecret secret={secret} label="key" />
      </Dialog>
    )
  }
  return (
    <Dialog title="Create operator key" onClose={onClose} actions={<><button type="button" className="btn" onClick={onClose}>Cancel</button><button type="submit" form="operator-key" className="btn primary" disabled={create.busy}>Create key</button></>}>
      <form id="operator-key" className="grid gap-3" onSubmit={(e) => void submit(e)}>
        <Field label="Name" hint="Name the program that will use this key." error={create.fieldErrors.name}>{(p) => <input {...p} className="input" value={name} onChange={(e) => setName(e.target.value)} placeholder="provisioning" required maxLength={200} autoFocus autoComplete="off" />}</Field>
        <Field label="Expires" error={create.fieldErrors.expires_at}>{(p) => <select {...p} className="input max-w-[200px]" value={days} onChange={(e) => setDays(Number(e.target.value))}>{ends.map((x) => <option key={x.days} value={x.days}>{x.name}</option>)}</select>}</Field>
        <NetworksField value={networks} onChange={setNetworks} error={wrongNetworks} />
        <p className="text-ink-2">The key ends when you are no longer an operator.</p>
        {create.error !== null && !wrongNetworks && <ErrorAlert error={create.error} />}
      </form>
    </Dialog>
  )
}
