import { Link } from '@tanstack/react-router'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { CircleCheck, CircleMinus } from 'lucide-react'
import { useState } from 'react'
import { unwrap, rest } from '@/api/rest'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { Badge } from '@/parts/Badge'
import { ConfirmDialog } from '@/parts/ConfirmDialog'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Card } from '@/parts/Page'
import { SkeletonText } from '@/parts/Skeleton'

// Factor is the rule that every member has a second factor. It is not in GraphQL.
export function Factor() {
  const { can } = useViewer()
  const client = useQueryClient()
  const account = useQuery({ queryKey: ['account-rule'], queryFn: () => unwrap(rest.GET('/account')).then((a) => a.account.require_second_factor) })
  const [asking, setAsking] = useState(false)
  const on = account.data
  return (
    <Card title="Second factor for the team" actions={on === undefined ? null : on ? <Badge tone="ok" icon={CircleCheck}>Required</Badge> : <Badge icon={CircleMinus}>Not required</Badge>}>
      {account.error ? <ErrorAlert error={account.error} retry={() => void account.refetch()} /> : on === undefined ? <SkeletonText lines={2} /> : (
        <div className="grid justify-items-start gap-3">
          <p className="text-ink-2">{on ? 'Who has neither an authenticator app nor a passkey cannot work in this account until they set one up.' : 'Members may work here with a password alone.'} <Link to="/profile" className="link under">Your own factors</Link></p>
          {can('OWN') ? <button type="button" className="btn" onClick={() => setAsking(true)}>{on ? 'Require it no more' : 'Require it of everybody'}</button> : <p className="text-xs text-ink-3">Owners decide about it.</p>}
        </div>
      )}
      {asking && (
        <ConfirmDialog
          title={on ? 'Require no second factor?' : 'Require a second factor of everybody?'} label={on ? 'Require it no more' : 'Require it'} danger={on} onClose={() => setAsking(false)}
          run={async () => { await unwrap(rest.PATCH('/account', { body: { require_second_factor: !on } })); await client.invalidateQueries({ queryKey: ['account-rule'] }); toast.success(on ? 'A second factor is not required any more' : 'A second factor is required now') }}
        >
          {on ? 'A stolen password is then enough to get in.' : 'Members without one are locked out of this account at once, until they set one up in their profile. That includes you.'}
        </ConfirmDialog>
      )}
    </Card>
  )
}
