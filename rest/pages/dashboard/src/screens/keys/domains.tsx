import { useGraphQL } from '@/api/graphql'
import { useViewer } from '@/app/viewer'
import { KeyDomains } from './queries.gen'

// useDomains fetches the domains of the account, to which a key can be limited.
export function useDomains() {
  const { has } = useViewer()
  const { data } = useGraphQL(KeyDomains, {}, { enabled: has('domains') })
  return data?.domains.nodes ?? []
}

// DomainNames lists the domains that a key can send from.
export function DomainNames({ ids, domains }: { ids: string[]; domains: { id: string; name: string }[] }) {
  if (ids.length === 0) return <span className="text-ink-3">All</span>
  const names = ids.map((id) => domains.find((d) => d.id === id)?.name ?? id)
  return <span className="text-ink-2" title={names.join('\n')}>{names.length === 1 ? names[0] : `${names[0]} +${names.length - 1}`}</span>
}

// DomainChoice selects domains; none selected means all.
export function DomainChoice({ domains, value, onChange }: { domains: { id: string; name: string }[]; value: string[]; onChange: (ids: string[]) => void }) {
  if (domains.length === 0) return null
  return (
    <fieldset className="grid gap-1">
      <legend className="mb-1 font-medium">Domains</legend>
      <div className="grid max-h-[180px] gap-1 overflow-auto rounded-control border border-line p-3" tabIndex={0} role="group" aria-label="Domains">
        {domains.map((d) => (
          <label key={d.id} className="flex min-w-0 items-center gap-2">
            <input type="checkbox" className="accent-accent-fill" checked={value.includes(d.id)} onChange={(e) => onChange(e.target.checked ? [...value, d.id] : value.filter((id) => id !== d.id))} /><span className="wrap-anywhere">{d.name}</span>
          </label>
        ))}
      </div>
      <p className="text-xs text-ink-3">{value.length === 0 ? 'If none is selected, it can send from all domains, including future ones.' : `Can send only from ${value.length === 1 ? 'this one' : `these ${value.length}`}.`}</p>
    </fieldset>
  )
}
