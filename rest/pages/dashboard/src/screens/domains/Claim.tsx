import { useNavigate } from '@tanstack/react-router'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { unwrap, rest } from '@/api/rest'
import type { components } from '@/api/rest.gen'
import { toast } from '@/app/toasts'
import { CopyButton } from '@/parts/CopyButton'
import { Dialog } from '@/parts/Dialog'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { useWrite } from '@/parts/Form'
import { Detail, DetailList } from '@/parts/Page'
import { Time } from '@/parts/Time'
import { DomainList } from './queries.gen'

export type ClaimRecord = components['schemas']['ClaimRecord']

// Claim takes over a domain from another account by a record that proves control.
export function Claim({ claim: first, onClose }: { claim: ClaimRecord; onClose: () => void }) {
  const [claim, setClaim] = useState(first)
  const navigate = useNavigate()
  const queries = useQueryClient()
  const verify = useWrite(() => unwrap(rest.POST('/domains/claims/{id}/verify', { params: { path: { id: claim.id } } })))

  async function go() {
    const answer = await verify.run()
    if (!answer) return
    setClaim(answer.claim)
    if (!answer.domain) return
    void queries.invalidateQueries({ queryKey: [DomainList.name] })
    toast.success(`${answer.domain.name} claimed`)
    onClose()
    void navigate({ to: `/domains/${answer.domain.id}` })
  }
  const { record } = claim
  return (
    <Dialog wide title={`Claim ${claim.name}`} onClose={onClose} actions={<><button type="button" className="btn" onClick={onClose}>Not now</button><button type="button" className="btn primary" disabled={verify.busy} onClick={() => void go()}>{verify.busy ? 'Checking…' : 'Verify claim'}</button></>}>
      <p className="text-ink-2">Publish this record in addition to the existing ones, then verify. The claim expires <Time at={claim.expires_at} />. To return to it, add the domain again.</p>
      <DetailList>
        <Detail name="Type">{record.type}</Detail>
        <Detail name="Name"><code>{record.name}</code><CopyButton text={record.name} label="Copy name" /></Detail>
        <Detail name="Value"><code className="wrap-anywhere">{record.value}</code><CopyButton text={record.value} label="Copy value" /></Detail>
        <Detail name="Last check">{claim.last_checked_at && <Time at={claim.last_checked_at} />}</Detail>
      </DetailList>
      {claim.error && <p role="alert" className="smtp bad">{claim.error}</p>}
      {verify.error !== null && <ErrorAlert error={verify.error} retry={() => void go()} />}
    </Dialog>
  )
}
