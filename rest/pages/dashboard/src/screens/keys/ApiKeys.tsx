import { Copy, KeyRound, Pencil } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { usePages } from '@/api/graphql'
import { unwrap, rest } from '@/api/rest'
import { toast } from '@/app/toasts'
import { copyText } from '@/parts/CopyButton'
import { EmptyState } from '@/parts/EmptyState'
import { termValue, parseTerms } from '@/parts/FilterBar'
import { Menu } from '@/parts/Menu'
import { Time } from '@/parts/Time'
import { RenameKey } from './Acts'
import { CredentialTable } from './CredentialTable'
import { DomainNames, useDomains } from './domains'
import { lookOf, scopes } from './look'
import { modeChoice } from './Mode'
import { ApiKeyList, type ApiKeyRowFragment } from './queries.gen'

type Row = ApiKeyRowFragment

const stateChoice = { field: 'is', label: 'Any status', values: [{ value: 'active', name: 'Active' }, { value: 'expired', name: 'Expired' }, { value: 'revoked', name: 'Revoked' }] }
const choices = [stateChoice, modeChoice, { field: 'scope', label: 'Any scope', values: Object.values(scopes).map((s) => ({ value: s.value, name: s.word })) }]

function matches(k: Row, q: string): boolean {
  const is = termValue(q, 'is')
  const scope = termValue(q, 'scope')
  const mode = termValue(q, 'mode')
  const words = parseTerms(q).filter((t) => !['is', 'scope', 'mode'].includes(t.field ?? '')).map((t) => t.text.toLowerCase())
  return (!is || lookOf(k).word.toLowerCase() === is) && (!scope || scopes[k.scope].value === scope) && (!mode || k.mode.toLowerCase() === mode) && words.every((w) => k.name.toLowerCase().includes(w) || k.prefix.toLowerCase().startsWith(w) || k.id === w)
}

export function ApiKeys({ create }: { create?: ReactNode }) {
  const domains = useDomains()
  const [renaming, setRenaming] = useState<Row>()
  const list = usePages(ApiKeyList, { first: 100 }, (d) => d.apiKeys)
  return (
    <>
      <CredentialTable
        label="API keys" icon={KeyRound} list={list}
        placeholder="Name or start of the key" choices={choices} matches={matches} noMatch="No API keys match this filter."
        empty={<EmptyState icon={KeyRound} title="No API keys yet" action={create}>Your app needs an API key to use the API. Send it as Authorization: Bearer.</EmptyState>}
        columns={[
          { key: 'prefix', head: 'Key', width: '152px', from: 'mid', cell: (k) => <code className="text-ink-2">{k.prefix}…</code> },
          { key: 'mode', head: 'Mode', width: '72px', from: 'huge', cell: (k) => <span className="chip">{k.mode === 'TEST' ? 'Test' : 'Live'}</span> },
          { key: 'scope', head: 'Scope', width: '88px', from: 'slim', cell: (k) => <span className="chip" title={scopes[k.scope].means}>{scopes[k.scope].word}</span> },
          { key: 'domains', head: 'Domains', width: '168px', from: 'vast', cell: (k) => <DomainNames ids={k.domainIds} domains={domains} /> },
        ]}
        ending={[{ key: 'ends', head: 'Expires', width: '112px', from: 'wide', cell: (k) => <span className="text-xs text-ink-3">{k.revokedAt ? <Time at={k.revokedAt} /> : k.expiresAt ? <Time at={k.expiresAt} /> : 'Never'}</span> }]}
        page={(id) => `/keys/${id}`}
        actions={(k) => <Menu label={`More actions for ${k.name}`} entries={[{ name: 'Rename', icon: Pencil, run: () => setRenaming(k) }, { name: 'Copy ID', icon: Copy, run: () => void copyText(k.id).then(() => toast.success('ID copied'), toast.error) }]} />}
        revokeLabel="Revoke key" revokeEffect="Requests with this key will fail within five seconds."
        revoke={(k) => unwrap(rest.DELETE('/api-keys/{id}', { params: { path: { id: k.id } } }))}
      />
      {renaming && <RenameKey apiKey={renaming} onClose={() => setRenaming(undefined)} renamed={() => void list.refetch()} />}
    </>
  )
}
