import { LogOut, UserMinus } from 'lucide-react'
import { useState } from 'react'
import { unwrap, rest } from '@/api/rest'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { Badge } from '@/parts/Badge'
import { ConfirmDialog } from '@/parts/ConfirmDialog'
import { Card } from '@/parts/Page'
import { Time } from '@/parts/Time'
import type { TeamMembersQuery } from './queries.gen'
import { givable, restRole, roleName, touches, type Role } from './roles'

type Member = TeamMembersQuery['members']['nodes'][number]

// Members lists the members of the account.
export function Members({ rows, again }: { rows: Member[]; again: () => void }) {
  const { user, role: mine, account } = useViewer()
  const [removing, setRemoving] = useState<Member>()
  const [changing, setChanging] = useState<{ member: Member; role: Role }>()
  const owners = rows.filter((r) => r.role === 'OWNER').length
  const self = (m: Member) => m.user.id === user?.id
  const choices = givable(mine)
  return (
    <Card title="Members" actions={<span className="text-xs text-ink-3">{rows.length}</span>} padded={false}>
      <table className="w-full table-fixed border-collapse text-left">
        <thead>
          <tr className="h-8 border-b border-line text-xs text-ink-3">
            <th scope="col" className="px-4 font-medium">Member</th>
            <th scope="col" className="w-36 px-2 font-medium">Role</th>
            <th scope="col" className="hidden w-32 px-2 text-right font-medium sm:table-cell">Member since</th>
            <th scope="col" className="w-14 px-2"><span className="sr-only">Actions</span></th>
          </tr>
        </thead>
        <tbody>
          {rows.map((m) => {
            const name = m.user.name || m.user.email
            const last = m.role === 'OWNER' && owners === 1
            return (
              <tr key={m.user.id} className="border-b border-line-soft last:border-0 hover:bg-hover">
                <th scope="row" className="px-4 py-2 font-normal">
                  <span className="flex items-center gap-2"><b className="truncate font-medium">{name}</b>{self(m) && <Badge>You</Badge>}</span>
                  {m.user.name && <span className="block truncate text-xs text-ink-3">{m.user.email}</span>}
                </th>
                <td className="px-2">
                  {touches(mine, m.role) && !last && choices.length > 0 ? (
                    <select aria-label={`Role of ${name}`} value={m.role} onChange={(e) => setChanging({ member: m, role: e.target.value as Role })} className="h-[30px] w-full rounded-control border border-line bg-raised px-2 hover:bg-hover">
                      {choices.map((r) => <option key={r.key} value={r.key}>{r.name}</option>)}
                    </select>
                  ) : <span className="px-2" title={last ? 'An account must keep at least one owner' : undefined}>{roleName(m.role)}</span>}
                </td>
                <td className="hidden px-2 text-right text-xs text-ink-3 sm:table-cell"><Time at={m.joinedAt} /></td>
                <td className="px-2 text-right">
                  {!last && (self(m) || touches(mine, m.role)) && (
                    <button type="button" className="btn quiet sm square" aria-label={self(m) ? 'Leave this account' : `Remove ${name}`} title={self(m) ? 'Leave this account' : 'Remove'} onClick={() => setRemoving(m)}>{self(m) ? <LogOut aria-hidden /> : <UserMinus aria-hidden />}</button>
                  )}
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
      {changing && (
        <ConfirmDialog
          title={`Make ${changing.member.user.name || changing.member.user.email} ${roleName(changing.role).toLowerCase()}?`} label="Change role" danger={changing.role === 'OWNER'} onClose={() => setChanging(undefined)}
          run={async () => {
            await unwrap(rest.PATCH('/members/{id}', { params: { path: { id: changing.member.user.id } }, body: { role: restRole(changing.role) } }))
            if (self(changing.member)) location.reload()
            again()
            toast.success('Role changed')
          }}
        >
          {choices.find((r) => r.key === changing.role)?.about}. {self(changing.member) && 'This is you. You immediately lose the permissions that the new role doesn’t have.'}{changing.role === 'OWNER' && ' Owners can remove you.'}
        </ConfirmDialog>
      )}
      {removing && (
        <ConfirmDialog
          title={self(removing) ? `Leave ${account?.name ?? 'this account'}?` : `Remove ${removing.user.name || removing.user.email}?`} label={self(removing) ? 'Leave' : 'Remove'} danger onClose={() => setRemoving(undefined)}
          run={async () => {
            await unwrap(rest.DELETE('/members/{id}', { params: { path: { id: removing.user.id } } }))
            if (self(removing)) return location.assign('/')
            again()
            toast.success(`${removing.user.email} removed`)
          }}
        >
          {self(removing) ? 'You lose access until you are invited again.' : 'They lose access within five seconds.'} API keys created by {self(removing) ? 'you' : 'them'} belong to the account and keep working.
        </ConfirmDialog>
      )}
    </Card>
  )
}
