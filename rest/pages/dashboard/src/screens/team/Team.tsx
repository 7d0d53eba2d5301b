import { MailPlus } from 'lucide-react'
import { useAllPages, usePages } from '@/api/graphql'
import { useOpenParam } from '@/app/searchParams'
import { useViewer } from '@/app/viewer'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { PageBody, PageHead } from '@/parts/Page'
import { SkeletonText } from '@/parts/Skeleton'
import { Invitations } from './Invitations'
import { Invite } from './Invite'
import { Members } from './Members'
import { TeamInvitations, TeamMembers } from './queries.gen'
import { roleName, roles } from './roles'

export default function Team() {
  const { can, role } = useViewer()
  const [inviting, setInviting] = useOpenParam('invite')
  const members = usePages(TeamMembers, {}, (d) => d.members)
  const invitations = usePages(TeamInvitations, {}, (d) => d.invitations, { enabled: can('TEAM') })
  useAllPages(members, true) // only the whole list shows who is the last owner
  useAllPages(invitations, true)
  const rows = members.data && members.rows
  return (
    <>
      <PageHead title="Team">{can('TEAM') && <button type="button" className="btn primary" onClick={() => setInviting(true)}><MailPlus aria-hidden />Invite</button>}</PageHead>
      <PageBody narrow>
        {members.error && <ErrorAlert error={members.error} retry={() => void members.refetch()} />}
        {rows ? <Members rows={rows} again={() => void members.refetch()} /> : members.isPending && <SkeletonText />}
        {can('TEAM') && invitations.error && <ErrorAlert error={invitations.error} retry={() => void invitations.refetch()} />}
        {can('TEAM') && invitations.data && (
          <Invitations
            rows={invitations.rows} again={() => void invitations.refetch()} invite={() => setInviting(true)}
            nameOf={(id) => { const who = rows?.find((m) => m.user.id === id)?.user; return who && (who.name || who.email) }}
          />
        )}
        <details className="text-xs text-ink-2">
          <summary className="w-fit">Roles and permissions{role && ` (yours: ${roleName(role).toLowerCase()})`}</summary>
          <dl className="mt-2 grid grid-cols-[88px_minmax(0,1fr)] gap-x-3 gap-y-1">
            {roles.map((r) => <div key={r.key} className="contents"><dt className="font-medium">{r.name}</dt><dd>{r.about}</dd></div>)}
          </dl>
        </details>
      </PageBody>
      {inviting && can('TEAM') && <Invite onClose={() => setInviting(false)} invited={() => void invitations.refetch()} />}
    </>
  )
}
