import { MailPlus, RotateCw, X } from 'lucide-react'
import { useState } from 'react'
import { unwrap, rest } from '@/api/rest'
import { toast } from '@/app/toasts'
import { ConfirmDialog } from '@/parts/ConfirmDialog'
import { Card } from '@/parts/Page'
import { Time } from '@/parts/Time'
import type { TeamInvitationsQuery } from './queries.gen'
import { roleName } from './roles'

type Invitation = TeamInvitationsQuery['invitations']['nodes'][number]

// Invitations lists open invitations. `nameOf` returns the name of a user.
export function Invitations({ rows, nameOf, again, invite }: { rows: Invitation[]; nameOf: (id: string | null) => string | undefined; again: () => void; invite: () => void }) {
  const [revoking, setRevoking] = useState<Invitation>()
  const [busy, setBusy] = useState('')
  async function resend(i: Invitation) {
    setBusy(i.id)
    try {
      await unwrap(rest.POST('/invitations/{id}/resend', { params: { path: { id: i.id } } }))
      again()
      toast.success(`Invitation sent to ${i.email} again`)
    } catch (error) {
      toast.error(error, { label: 'Try again', run: () => void resend(i) })
    } finally {
      setBusy('')
    }
  }
  return (
    <Card title="Pending invitations" actions={<span className="text-xs text-ink-3">{rows.length}</span>} padded={false}>
      {rows.length === 0 ? (
        <p className="flex flex-wrap items-center gap-3 p-4 text-ink-3">No pending invitations. <button type="button" className="btn sm" onClick={invite}><MailPlus aria-hidden />Invite a member</button></p>
      ) : (
        <table className="w-full table-fixed border-collapse text-left">
          <thead>
            <tr className="h-8 border-b border-line text-xs text-ink-3">
              <th scope="col" className="px-4 font-medium">Email</th>
              <th scope="col" className="hidden w-28 px-2 font-medium sm:table-cell">Role</th>
              <th scope="col" className="hidden w-32 px-2 text-right font-medium sm:table-cell">Expires</th>
              <th scope="col" className="w-24 px-2"><span className="sr-only">Actions</span></th>
            </tr>
          </thead>
          <tbody>
            {rows.map((i) => {
              const by = nameOf(i.invitedBy)
              return (
                <tr key={i.id} className="border-b border-line-soft last:border-0 hover:bg-hover">
                  <th scope="row" className="px-4 py-2 font-normal">
                    <b className="block truncate font-medium">{i.email}</b>
                    <span className="block truncate text-xs text-ink-3"><span className="sm:hidden">{roleName(i.role)}, </span>invited <Time at={i.createdAt} />{by && ` by ${by}`}</span>
                  </th>
                  <td className="hidden px-2 sm:table-cell">{roleName(i.role)}</td>
                  <td className="hidden px-2 text-right text-xs text-ink-3 sm:table-cell"><Time at={i.expiresAt} /></td>
                  <td className="px-2 text-right whitespace-nowrap">
                    <button type="button" className="btn quiet sm square" aria-label={`Resend to ${i.email}`} title="Resend" disabled={busy === i.id} onClick={() => void resend(i)}><RotateCw aria-hidden /></button>
                    <button type="button" className="btn quiet sm square" aria-label={`Revoke the invitation for ${i.email}`} title="Revoke" onClick={() => setRevoking(i)}><X aria-hidden /></button>
                  </td>
                </tr>
              )
            })}
          </tbody>
        </table>
      )}
      {revoking && (
        <ConfirmDialog title={`Revoke the invitation for ${revoking.email}?`} label="Revoke" danger onClose={() => setRevoking(undefined)} run={async () => { await unwrap(rest.DELETE('/invitations/{id}', { params: { path: { id: revoking.id } } })); again(); toast.success('Invitation revoked') }}>
          The link in the invitation stops working.
        </ConfirmDialog>
      )}
    </Card>
  )
}
