import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { Ban, CircleCheck, ShieldCheck, UserRound } from 'lucide-react'
import { useState, type FormEvent } from 'react'
import { nextPageOf } from '@/api/graphql'
import { newIdempotencyKey, rest, unwrap } from '@/api/rest'
import type { components } from '@/api/rest.gen'
import { useSearchParams } from '@/app/searchParams'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { Badge } from '@/parts/Badge'
import { ConfirmDialog } from '@/parts/ConfirmDialog'
import { DataTable, type Column } from '@/parts/DataTable'
import { Dialog } from '@/parts/Dialog'
import { EmptyState } from '@/parts/EmptyState'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { FilterBar } from '@/parts/FilterBar'
import { Field, keepSecret, OneTimeSecret, useWrite } from '@/parts/Form'
import { Menu } from '@/parts/Menu'
import { Time } from '@/parts/Time'

type User = components['schemas']['OperatorUserRecord']
type Change = components['schemas']['UpdateUserAsOperator']
interface Asked { title: string; text: string; label: string; danger?: boolean; change: Change; done: string }

const listKey = 'operator users'

function questions(u: User) {
  return {
    disable: { title: `Disable ${u.email}?`, text: 'Ends their sessions, links, invitations and operator keys. Accounts and API keys are not affected.', label: 'Disable', danger: true, change: { disabled: true }, done: `${u.email} disabled` },
    enable: { title: `Enable ${u.email}?`, text: 'They can sign in again.', label: 'Enable', change: { disabled: false }, done: `${u.email} enabled` },
    operator: { title: `Make ${u.email} an operator?`, text: 'Operators can see and change all accounts, users and plans of this installation.', label: 'Make operator', danger: true, change: { operator: true }, done: `${u.email} is an operator` },
    former: { title: `Revoke the operator role of ${u.email}?`, text: 'Also ends the operator keys that they created.', label: 'Revoke role', danger: true, change: { operator: false }, done: `${u.email} is no longer an operator` },
  } satisfies Record<string, Asked>
}

export function Users() {
  const viewer = useViewer()
  const queries = useQueryClient()
  const [address, change] = useSearchParams()
  const [asked, setAsked] = useState<{ user: User; question: Asked }>()
  const [linked, setLinked] = useState<User>()
  const [creating, setCreating] = useState(false)
  const filter = { q: address.q || undefined, operator: address.status === 'operator' ? ('true' as const) : undefined, disabled: address.status === 'disabled' ? ('true' as const) : undefined }
  const list = useInfiniteQuery({
    queryKey: [listKey, filter], initialPageParam: '',
    queryFn: ({ pageParam, signal }) => unwrap(rest.GET('/operator/users', { params: { query: { limit: 50, ...filter, ...(pageParam ? { cursor: pageParam } : {}) } }, signal })),
    getNextPageParam: (last) => last.next_cursor ?? undefined,
  })
  const again = () => queries.invalidateQueries({ queryKey: [listKey] })
  const ask = (user: User, question: Asked) => () => setAsked({ user, question })
  const columns: Column<User>[] = [
    {
      key: 'email', head: 'Email', width: '34%', grows: true,
      cell: (u) => (
        <>
          <span className="block truncate font-medium">{u.email}</span>
          <span className="block truncate text-xs text-ink-3">{u.name || u.id}</span>
        </>
      ),
    },
    { key: 'state', head: 'Status', width: '150px', cell: (u) => u.disabled_at ? <Badge tone="bad" icon={Ban}>Disabled</Badge> : u.operator ? <Badge tone="warn" icon={ShieldCheck}>Operator</Badge> : <Badge tone="ok" icon={CircleCheck}>Active</Badge> },
    { key: 'accounts', head: 'Accounts', width: '90px', right: true, from: 'mid', cell: (u) => u.memberships.length.toLocaleString() },
    { key: 'seen', head: 'Last sign-in', width: '120px', right: true, from: 'mid', cell: (u) => <span className="text-ink-3">{u.last_sign_in_at ? <Time at={u.last_sign_in_at} /> : 'Never'}</span> },
    {
      key: 'act', head: <span className="sr-only">Actions</span>, width: '52px', right: true,
      cell: (u) => {
        const question = questions(u)
        const self = u.id === viewer.user?.id
        return (
          <Menu
            label={`More actions for ${u.email}`}
            entries={[
              { name: 'Create sign-in link', run: () => setLinked(u), hidden: u.disabled_at !== null },
              { name: u.operator ? 'Revoke operator role' : 'Make operator', run: ask(u, u.operator ? question.former : question.operator), hidden: self },
              { name: u.disabled_at ? 'Enable' : 'Disable', run: ask(u, u.disabled_at ? question.enable : question.disable), danger: !u.disabled_at, hidden: self },
            ]}
          />
        )
      },
    },
  ]
  const filtered = Boolean(address.q || address.status)
  return (
    <>
      <FilterBar placeholder="Email, name or user ID">
        <select aria-label="Status" value={address.status ?? ''} onChange={(e) => change({ status: e.target.value })} className="h-[34px] max-w-40 rounded-control border border-line bg-raised px-2 text-ink-2 hover:bg-hover">
          <option value="">Status</option>
          <option value="operator">Operators</option>
          <option value="disabled">Disabled</option>
        </select>
        <button type="button" className="btn" onClick={() => setCreating(true)}>Create user</button>
      </FilterBar>
      <DataTable
        label="Users" rows={list.data?.pages.flatMap((p) => p.users) ?? []} columns={columns} idOf={(u) => u.id} nameOf={(u) => u.email} height={52}
        loading={list.isPending} error={list.error} retry={() => void list.refetch()} more={nextPageOf(list)} hasMore={list.hasNextPage}
        empty={<EmptyState icon={UserRound} title={filtered ? 'No users match' : 'No users yet'} action={filtered ? <button type="button" className="btn" onClick={() => change({ q: undefined, status: undefined })}>Clear filter</button> : undefined} />}
      />
      {asked && (
        <ConfirmDialog
          title={asked.question.title} label={asked.question.label} danger={asked.question.danger} onClose={() => setAsked(undefined)}
          run={async () => {
            await unwrap(rest.PATCH('/operator/users/{id}', { params: { path: { id: asked.user.id } }, body: asked.question.change }))
            await again()
            toast.success(asked.question.done)
          }}
        >
          {asked.question.text}
        </ConfirmDialog>
      )}
      {linked && <LinkDialog user={linked} onClose={() => setLinked(undefined)} />}
      {creating && <CreateUser onClose={() => setCreating(false)} made={() => void again()} />}
    </>
  )
}

function LinkDialog({ user, onClose }: { user: User; onClose: () => void }) {
  const [link, setLink] = useState<{ url: string; expires_at: string }>()
  const [once] = useState(newIdempotencyKey)
  const create = useWrite(() => unwrap(rest.POST('/operator/users/{id}/links', { params: { path: { id: user.id }, header: { 'Idempotency-Key': once } } })))
  if (link) {
    return (
      <Dialog wide keep={keepSecret} title={`Sign-in link of ${user.email}`} onClose={onClose} actions={<button type="button" className="btn primary" onClick={onClose}>I’ve copied it</button>}>
        <OneTimeSecret secret={link.url} label="link" />
        <p className="text-ink-2">Works once, until <Time at={link.expires_at} absolute />.</p>
      </Dialog>
    )
  }
  return (
    <Dialog title={`Create a sign-in link for ${user.email}?`} onClose={onClose} actions={<><button type="button" className="btn" onClick={onClose}>Cancel</button><button type="button" className="btn primary" disabled={create.busy} onClick={() => void create.run().then((made) => made && setLink(made))}>Create link</button></>}>
      <p className="text-ink-2">Anyone with the link can sign in as this user once, within an hour, without a password or second factor. Postrider does not mail it.</p>
      {create.error !== null && <ErrorAlert error={create.error} />}
    </Dialog>
  )
}

function CreateUser({ onClose, made }: { onClose: () => void; made: () => void }) {
  const [email, setEmail] = useState('')
  const [name, setName] = useState('')
  const create = useWrite(() => unwrap(rest.POST('/operator/users', { body: { email: email.trim(), name: name.trim() } })))
  async function submit(e: FormEvent) {
    e.preventDefault()
    const answer = await create.run()
    if (!answer) return
    made()
    toast.success(`${answer.user.email} created`)
    onClose()
  }
  return (
    <Dialog title="Create user" onClose={onClose} actions={<><button type="button" className="btn" onClick={onClose}>Cancel</button><button type="submit" form="create-user" className="btn primary" disabled={create.busy}>Create user</button></>}>
      <form id="create-user" className="grid gap-3" onSubmit={(e) => void submit(e)}>
        <Field label="Email" error={create.fieldErrors.email}>{(p) => <input {...p} className="input" type="email" required maxLength={320} value={email} onChange={(e) => setEmail(e.target.value)} autoFocus autoComplete="off" />}</Field>
        <Field label="Name" error={create.fieldErrors.name}>{(p) => <input {...p} className="input" maxLength={200} value={name} onChange={(e) => setName(e.target.value)} autoComplete="off" />}</Field>
        <p className="text-ink-2">The user has no password. They can set one with “Forgot password?”, or you can create a sign-in link.</p>
        {create.error !== null && <ErrorAlert error={create.error} />}
      </form>
    </Dialog>
  )
}
