import { useGraphQL } from '@/api/graphql'
import { useViewer } from '@/app/viewer'
import { Field } from '@/parts/Form'
import { WebhookAutomations, WebhookDomains, WebhookTemplates, type WebhookRowFragment } from './queries.gen'
import { type Filter } from './filterForm'

interface Option { id: string; name: string }

// useOptions fetches the objects that a filter can name.
export function useOptions(): Record<'domain_ids' | 'template_ids' | 'automation_ids', Option[]> {
  const { has } = useViewer()
  const domains = useGraphQL(WebhookDomains, {}, { enabled: has('domains') })
  const templates = useGraphQL(WebhookTemplates, {}, { enabled: has('templates') })
  const automations = useGraphQL(WebhookAutomations, {}, { enabled: has('automations') })
  return { domain_ids: domains.data?.domains.nodes ?? [], template_ids: templates.data?.templates.nodes ?? [], automation_ids: automations.data?.automations.nodes ?? [] }
}

const lists = [
  { key: 'domain_ids', title: 'Domains' },
  { key: 'template_ids', title: 'Templates' },
  { key: 'automation_ids', title: 'Automations' },
] as const

// FilterFields selects which events of its types an endpoint receives.
export function FilterFields({ value, onChange, error }: { value: Filter; onChange: (filter: Filter) => void; error?: string }) {
  const options = useOptions()
  return (
    <>
      {lists.map(({ key, title }) => {
        // An object that was deleted is listed by its ID, so that it can be removed.
        const all = [...options[key], ...value[key].filter((id) => !options[key].some((o) => o.id === id)).map((id) => ({ id, name: id }))]
        if (all.length === 0) return null
        return (
          <fieldset key={key} className="grid gap-1">
            <legend className="mb-1 font-medium">{title}</legend>
            <div className="grid max-h-[140px] gap-1 overflow-auto rounded-control border border-line p-3" tabIndex={0} role="group" aria-label={title}>
              {all.map((o) => (
                <label key={o.id} className="flex min-w-0 items-center gap-2">
                  <input type="checkbox" className="accent-accent-fill" checked={value[key].includes(o.id)} onChange={(e) => onChange({ ...value, [key]: e.target.checked ? [...value[key], o.id] : value[key].filter((id) => id !== o.id) })} /><span className="wrap-anywhere">{o.name}</span>
                </label>
              ))}
            </div>
          </fieldset>
        )
      })}
      <Field label="Tags" hint="One on each line: a name, or name=value." error={error}>
        {(p) => <textarea {...p} className="input min-h-14 font-mono text-xs" rows={2} value={value.tags} onChange={(e) => onChange({ ...value, tags: e.target.value })} placeholder="kind=receipt" spellCheck={false} autoComplete="off" />}
      </Field>
    </>
  )
}

// FilterText lists the filter of an endpoint in words.
export function FilterText({ filter: f }: { filter: NonNullable<WebhookRowFragment['filter']> }) {
  const options = useOptions()
  const name = (list: Option[], ids: string[]) => ids.map((id) => list.find((o) => o.id === id)?.name ?? id)
  const parts = [
    name(options.domain_ids, f.domainIds), name(options.template_ids, f.templateIds), name(options.automation_ids, f.automationIds),
    f.tags.map((t) => (t.value ? `${t.name}=${t.value}` : t.name)),
  ].filter((list) => list.length > 0)
  return <span className="wrap-anywhere">Only {parts.map((list) => list.join(' or ')).join(', and ')}</span>
}
