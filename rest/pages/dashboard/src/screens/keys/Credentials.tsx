import { Server } from 'lucide-react'
import type { ReactNode } from 'react'
import { usePages } from '@/api/graphql'
import { unwrap, rest } from '@/api/rest'
import { CopyButton } from '@/parts/CopyButton'
import { EmptyState } from '@/parts/EmptyState'
import { termValue, parseTerms } from '@/parts/FilterBar'
import { CredentialTable } from './CredentialTable'
import { DomainNames, useDomains } from './domains'
import { lookOf } from './look'
import { modeChoice } from './Mode'
import { SmtpCredentialList, type SmtpCredentialRowFragment } from './queries.gen'

type Row = SmtpCredentialRowFragment

const choices = [{ field: 'is', label: 'Any status', values: [{ value: 'active', name: 'Active' }, { value: 'revoked', name: 'Revoked' }] }, modeChoice]

function matches(k: Row, q: string): boolean {
  const is = termValue(q, 'is')
  const mode = termValue(q, 'mode')
  const words = parseTerms(q).filter((t) => !['is', 'mode'].includes(t.field ?? '')).map((t) => t.text.toLowerCase())
  return (!is || lookOf(k).word.toLowerCase() === is) && (!mode || k.mode.toLowerCase() === mode) && words.every((w) => k.name.toLowerCase().includes(w) || k.id === w)
}

export const tlsWord = (tls: string) => (tls.toUpperCase() === 'IMPLICIT' ? 'Implicit TLS' : 'STARTTLS')

export function Credentials({ create }: { create?: ReactNode }) {
  const domains = useDomains()
  return (
    <CredentialTable
      label="SMTP credentials" icon={Server} list={usePages(SmtpCredentialList, { first: 100 }, (d) => d.smtpCredentials)}
      placeholder="Name" choices={choices} matches={matches} noMatch="No credentials match this filter."
      empty={<EmptyState icon={Server} title="No SMTP credentials yet" action={create}>For apps that send over SMTP. You get a server, a username and a password, which is shown once.</EmptyState>}
      columns={[
        { key: 'mode', head: 'Mode', width: '72px', from: 'mid', cell: (k) => <span className="chip">{k.mode === 'TEST' ? 'Test' : 'Live'}</span> },
        { key: 'server', head: 'Server', width: '232px', from: 'mid', cell: (k) => <span className="flex min-w-0 items-center gap-0.5" title={tlsWord(k.tls)}><code className="truncate text-ink-2">{k.host}:{k.port}</code><CopyButton text={`${k.host}:${k.port}`} label="Copy host and port" /></span> },
        { key: 'user', head: 'Username', width: '124px', from: 'wide', cell: (k) => <span className="flex items-center gap-0.5"><code className="text-ink-2">{k.username}</code><CopyButton text={k.username} label="Copy username" /></span> },
        { key: 'domains', head: 'Domains', width: '160px', from: 'wide', cell: (k) => <DomainNames ids={k.domainIds} domains={domains} /> },
      ]}
      revokeLabel="Revoke credential" revokeEffect="Apps that use it can no longer sign in."
      revoke={(k) => unwrap(rest.DELETE('/smtp-credentials/{id}', { params: { path: { id: k.id } } }))}
    />
  )
}
