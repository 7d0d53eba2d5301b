import { Link, useParams } from '@tanstack/react-router'
import { useQueryClient } from '@tanstack/react-query'
import { Ban, KeyRound, Network, Pencil, RotateCw } from 'lucide-react'
import { useState } from 'react'
import { useGraphQL } from '@/api/graphql'
import { useViewer } from '@/app/viewer'
import { Badge } from '@/parts/Badge'
import { CopyableId, CopyButton } from '@/parts/CopyButton'
import { EmptyState } from '@/parts/EmptyState'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Menu } from '@/parts/Menu'
import { Card, Detail, DetailList, PageBody, PageHead } from '@/parts/Page'
import { SkeletonRows } from '@/parts/Skeleton'
import { Time } from '@/parts/Time'
import { RenameKey, RevokeKey } from './Acts'
import { useDomains } from './domains'
import { active, lookOf, scopes } from './look'
import { ChangeNetworks } from './Networks'
import { RotateKey } from './RotateKey'
import { ApiKeyDetail, ApiKeyList, type ApiKeyRowFragment } from './queries.gen'

const up = { to: '/keys', name: 'API keys' }

// KeyPage shows one API key, to rename, rotate or revoke it.
export default function KeyPage() {
  const { id } = useParams({ strict: false }) as { id: string }
  const read = useGraphQL(ApiKeyDetail, { id })
  const key = read.data?.apiKey
  if (key) return <Loaded apiKey={key} />
  return (
    <>
      <PageHead up={up} title={read.isLoading ? '' : 'API key'} />
      {read.isLoading && <SkeletonRows rows={4} />}
      {read.error && <div className="p-4 md:p-6"><ErrorAlert error={read.error} retry={() => void read.refetch()} /></div>}
      {read.data && <EmptyState icon={KeyRound} title="API key not found" action={<Link className="btn" to={'/keys' as string}>All API keys</Link>}>It belongs to another account.</EmptyState>}
    </>
  )
}

function Loaded({ apiKey: k }: { apiKey: ApiKeyRowFragment }) {
  const { can, has } = useViewer()
  const client = useQueryClient()
  const domains = useDomains()
  const [asks, setAsks] = useState<'rename' | 'rotate' | 'revoke' | 'networks' | null>(null)
  const changed = () => { for (const d of [ApiKeyDetail, ApiKeyList]) void client.invalidateQueries({ queryKey: [d.name] }) }
  const close = () => setAsks(null)
  const look = lookOf(k)
  const write = can('WRITE')
  const named = k.domainIds.map((id) => domains.find((d) => d.id === id)?.name ?? id)
  return (
    <>
      <PageHead up={up} title={k.name}>
        {write && active(k) && <button type="button" className="btn" onClick={() => setAsks('rotate')}><RotateCw aria-hidden />Rotate</button>}
        <Menu entries={[
          { name: 'Rename', icon: Pencil, run: () => setAsks('rename'), hidden: !write },
          { name: 'Change networks', icon: Network, run: () => setAsks('networks'), hidden: !write || !active(k) },
          { name: 'Revoke', icon: Ban, run: () => setAsks('revoke'), danger: true, hidden: !write || !active(k) },
        ]} />
      </PageHead>
      <PageBody narrow>
        <Card>
          <DetailList>
            <Detail name="Status"><Badge tone={look.tone} icon={look.icon}>{look.word}</Badge></Detail>
            <Detail name="Key"><code>{k.prefix}…</code></Detail>
            <Detail name="ID"><CopyableId id={k.id} /></Detail>
            <Detail name="Mode">{k.mode === 'TEST' ? 'Test. Emails are captured, not sent.' : 'Live'}</Detail>
            <Detail name="Scope">{scopes[k.scope].word}. {scopes[k.scope].means}</Detail>
            {k.permissions.length > 0 && <Detail name="Permissions"><ul>{k.permissions.map((p) => <li key={p}><code>{p}</code></li>)}</ul></Detail>}
            <Detail name="Domains">{named.length === 0 ? 'All' : named.join(', ')}</Detail>
            <Detail name="Networks">{k.allowedIps.length === 0 ? 'All' : <ul>{k.allowedIps.map((n) => <li key={n}><code>{n}</code></li>)}</ul>}</Detail>
            <Detail name="Last used">{k.lastUsedAt ? <><Time at={k.lastUsedAt} exact />{k.lastUsedIp && <> from <code>{k.lastUsedIp}</code><CopyButton text={k.lastUsedIp} label="Copy address" /></>}</> : 'Never'}</Detail>
            <Detail name="Created"><Time at={k.createdAt} exact /></Detail>
            <Detail name="Expires">{k.expiresAt ? <Time at={k.expiresAt} exact /> : 'Never'}</Detail>
            <Detail name="Revoked">{k.revokedAt && <Time at={k.revokedAt} exact />}</Detail>
          </DetailList>
        </Card>
        {has('apilog') && <p><Link className="link under" to="/requests" search={{ q: `key:${k.id}` } as never}>View its requests</Link></p>}
      </PageBody>
      {asks === 'rename' && <RenameKey apiKey={k} onClose={close} renamed={changed} />}
      {asks === 'rotate' && <RotateKey apiKey={k} onClose={close} changed={changed} />}
      {asks === 'networks' && <ChangeNetworks apiKey={k} onClose={close} changed={changed} />}
      {asks === 'revoke' && <RevokeKey apiKey={k} onClose={close} revoked={changed} />}
    </>
  )
}
