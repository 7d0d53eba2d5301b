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

// Factor edits the rule that every member needs a second factor, which is not available in GraphQL.
export function Factor() {
  const { can } = useViewer()
  const client = useQueryClient()
  const account = useQuery({ queryKey: ['account-rule'], queryFn: () => unwrap(rest.GET('/account')).then((a) => a.account.require_second_factor) })
  const [asking, setAsking] = useState(false)
  const on = account.data
  return (
    <Card title="Two-factor authentication for the team" actions={on === undefined ? null : on ? <Badge tone="ok" icon={CircleCheck}>Required</Badge> : <Badge icon={CircleMinus}>Not required</Badge>}>
      {account.error ? <ErrorAlert error={account.error} retry={() => void account.refetch()} /> : on === undefined ? <SkeletonText lines={2} /> : (
        <div className="grid justify-items-start gap-3">
          <p className="text-ink-2">{on ? 'Members without an authenticator app or a passkey can’t use this account until they set one up.' : 'Members can use this account with just a password.'} <Link to="/profile" className="link under">Your 2FA settings</Link></p>
          {can('OWN') ? <button type="button" className="btn" onClick={() => setAsking(true)}>{on ? 'Stop requiring 2FA' : 'Require for all members'}</button> : <p className="text-xs text-ink-3">Only owners can change this.</p>}
        </div>
      )}
      {asking && (
        <ConfirmDialog
          title={on ? 'Stop requiring 2FA?' : 'Require 2FA for all members?'} label={on ? 'Stop requiring' : 'Require 2FA'} danger={on} onClose={() => setAsking(false)}
          run={async () => { await unwrap(rest.PATCH('/account', { body: { require_second_factor: !on } })); await client.invalidateQueries({ queryKey: ['account-rule'] }); toast.success(on ? '2FA is no longer required' : '2FA is now required') }}
        >
          {on ? 'A stolen password is then enough to sign in.' : 'Members without 2FA immediately lose access to this account until they set it up in their profile. That includes you.'}
        </ConfirmDialog>
      )}
    </Card>
  )
}
