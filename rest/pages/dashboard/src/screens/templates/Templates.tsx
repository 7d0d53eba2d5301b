import { Link, useNavigate } from '@tanstack/react-router'
import { useQueryClient } from '@tanstack/react-query'
import { LayoutTemplate, Plus } from 'lucide-react'
import { useRef, useState } from 'react'
import { keyOf, useAllPages, usePages } from '@/api/graphql'
import { unwrap, newIdempotencyKey, rest } from '@/api/rest'
import type { components } from '@/api/rest.gen'
import { useSearchParams } from '@/app/searchParams'
import { useViewer } from '@/app/viewer'
import { DataTable, type Column } from '@/parts/DataTable'
import { Dialog } from '@/parts/Dialog'
import { EmptyState } from '@/parts/EmptyState'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { FilterBar, termValue, parseTerms } from '@/parts/FilterBar'
import { Field, useWrite } from '@/parts/Form'
import { PageHead } from '@/parts/Page'
import { Time } from '@/parts/Time'
import { StatusBadge } from './StatusBadge'
import { Templates as TemplatesDocument, type TemplatesQuery } from './templates.gen'

type Row = TemplatesQuery['templates']['nodes'][number]

const kindNames: Record<Row['kind'], string> = { TEMPLATE: 'Template', LAYOUT: 'Layout', PARTIAL: 'Partial' }

const columns: Column<Row>[] = [
  { key: 'name', head: 'Name', cell: (t) => <Link to={`/templates/${t.id}` as string} className="font-medium hover:underline">{t.name}</Link> },
  { key: 'kind', head: 'Kind', width: '100px', from: 'mid', cell: (t) => <span className="text-ink-2">{kindNames[t.kind]}</span> },
  { key: 'alias', head: 'Alias', width: '180px', from: 'mid', cell: (t) => (t.alias ? <code className="text-ink-2">{t.alias}</code> : <span className="text-ink-3">none</span>) },
  { key: 'subject', head: 'Subject', width: '30%', from: 'wide', cell: (t) => <span className="text-ink-2">{t.subject ?? 'set when sending'}</span> },
  { key: 'languages', head: 'Languages', width: '140px', from: 'wide', cell: (t) => <Languages locales={t.locales} /> },
  { key: 'status', head: 'Status', width: '176px', cell: (t) => <StatusBadge status={t.status} version={t.version} pending={t.hasUnpublishedChanges} outdated={t.hasNewerComponents} /> },
  { key: 'changed', head: 'Updated', width: '120px', right: true, from: 'slim', cell: (t) => <span className="text-ink-2"><Time at={t.updatedAt} /></span> },
]

// Languages lists the translations of a template, and marks those that lack a part.
function Languages({ locales }: { locales: Row['locales'] }) {
  return (
    <span className="flex flex-wrap gap-x-2 text-ink-2">
      {locales.map((l) => l.missing.length === 0 ? <span key={l.locale}>{l.locale}</span> : <span key={l.locale} className="text-warn" title={`Missing: ${l.missing.join(', ')}`}>{l.locale}, incomplete</span>)}
    </span>
  )
}

// matches applies the filter: words, `status:`, `kind:` and `alias:`.
function matches(t: Row, q: string): boolean {
  return parseTerms(q).every(({ field, value }) => {
    const wanted = value.replaceAll('"', '').toLowerCase()
    if (field === 'kind') return t.kind.toLowerCase() === wanted
    if (field === 'status') return wanted === 'outdated' ? t.hasNewerComponents : wanted === 'changed' ? t.status === 'PUBLISHED' && t.hasUnpublishedChanges : t.status.toLowerCase() === wanted
    if (field === 'alias') return (t.alias ?? '').toLowerCase().includes(wanted)
    return [t.name, t.alias, t.subject, t.id].some((s) => s?.toLowerCase().includes(wanted))
  })
}

export default function Templates() {
  const { can } = useViewer()
  const [address, change] = useSearchParams()
  const navigate = useNavigate()
  const q = address.q ?? ''
  const list = usePages(TemplatesDocument, {}, (d) => d.templates)
  const rows = q ? list.rows.filter((t) => matches(t, q)) : list.rows
  useAllPages(list, q !== '')
  const add = () => change({ new: '1' })
  return (
    <>
      <PageHead title="Templates">{can('DEFINE') && <button type="button" className="btn primary" onClick={add}><Plus aria-hidden />New template</button>}</PageHead>
      <FilterBar
        placeholder="Name, alias or subject" hints={['status:draft', 'status:published', 'status:changed', 'kind:layout', 'alias:receipt']}
        choices={[{ field: 'kind', label: 'Any kind', values: [{ value: 'template', name: 'Templates' }, { value: 'layout', name: 'Layouts' }, { value: 'partial', name: 'Partials' }] }, { field: 'status', label: 'Any status', values: [{ value: 'draft', name: 'Draft' }, { value: 'published', name: 'Published' }, { value: 'changed', name: 'Unpublished changes' }, { value: 'outdated', name: 'Update available' }] }]}
        error={termValue(q, 'status') && !['draft', 'published', 'changed', 'outdated'].includes(termValue(q, 'status')) ? 'status: must be draft, published, changed or outdated' : termValue(q, 'kind') && !['template', 'layout', 'partial'].includes(termValue(q, 'kind')) ? 'kind: must be template, layout or partial' : undefined}
      />
      <DataTable
        label="Templates" rows={rows} columns={columns} idOf={(t) => t.id} nameOf={(t) => t.name} loading={list.isLoading} error={list.error} retry={() => void list.refetch()}
        more={list.more} hasMore={list.hasNextPage} onOpen={(id) => id && void navigate({ to: `/templates/${id}` as string })}
        empty={q ? (
          <EmptyState icon={LayoutTemplate} title="No templates match" action={<button type="button" className="btn" onClick={() => change({ q: undefined })}>Clear filter</button>} />
        ) : (
          <EmptyState
            icon={LayoutTemplate} title="No templates yet" action={can('DEFINE') && <button type="button" className="btn primary" onClick={add}>New template</button>}
            command={{ request: { path: '/templates', body: { name: 'Receipt', alias: 'receipt', subject: 'Your receipt {{order}}', html: '<p>Thank you.</p>' } }, scope: 'full' }}
          >
            Templates are reusable emails with variables.
          </EmptyState>
        )}
      />
      {address.new && can('DEFINE') && <NewTemplate onClose={() => change({ new: undefined })} />}
    </>
  )
}

type Kind = 'template' | 'layout' | 'partial'

// starters are the drafts of new templates.
const starters: Record<Kind, { html: string; variables: components['schemas']['TemplateVariableInput'][] }> = {
  template: {
    html: '<html>\n  <body style="font-family: sans-serif; padding: 24px">\n    <h1>Hello {{ name }}</h1>\n    <p>Write your message here.</p>\n  </body>\n</html>\n',
    variables: [{ key: 'name', type: 'string', fallback: 'there' }],
  },
  layout: { html: '<html lang="en">\n  <head>\n    <title>{% block "title" %}{% endblock %}</title>\n  </head>\n  <body style="font-family: sans-serif; padding: 24px">\n    {% block "content" %}{% endblock %}\n  </body>\n</html>\n', variables: [] },
  partial: { html: '<p>&copy; {{ year }} Your company</p>\n', variables: [{ key: 'year', type: 'number', fallback: new Date().getFullYear() }] },
}

const kindHints: Record<Kind, string> = { template: 'An email that can be sent.', layout: 'The frame of several templates, with blocks that they fill. It can’t be sent.', partial: 'A piece that templates and layouts include, such as a footer. It can’t be sent.' }


function NewTemplate({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const client = useQueryClient()
  const [kind, setKind] = useState<Kind>('template')
  const [name, setName] = useState('')
  const [alias, setAlias] = useState('')
  const once = useRef(newIdempotencyKey())
  const write = useWrite(async () => {
    const { template } = await unwrap(rest.POST('/templates', {
      params: { header: { 'Idempotency-Key': once.current } },
      body: { kind, name: name.trim(), alias: alias.trim() || null, ...(kind === 'template' ? { subject: name.trim() } : {}), ...starters[kind] },
    }))
    void client.invalidateQueries({ queryKey: keyOf(TemplatesDocument) })
    void navigate({ to: `/templates/${template.id}` as string })
  })
  const edit = (set: (v: string) => void) => (e: { target: { value: string } }) => { once.current = newIdempotencyKey(); set(e.target.value) }
  return (
    <Dialog title="New template" onClose={onClose} actions={<><button type="button" className="btn" onClick={onClose}>Cancel</button><button type="submit" form="new-template" className="btn primary" disabled={write.busy || !name.trim() || (kind !== 'template' && !alias.trim())}>Create draft</button></>}>
      <form id="new-template" className="grid gap-3" onSubmit={(e) => { e.preventDefault(); void write.run() }}>
        <Field label="Kind" hint={kindHints[kind]}>{(p) => <select {...p} className="input" value={kind} onChange={(e) => { once.current = newIdempotencyKey(); setKind(e.target.value as Kind) }}><option value="template">Template</option><option value="layout">Layout</option><option value="partial">Partial</option></select>}</Field>
        <Field label="Name" hint="Shown in the dashboard, such as “Receipt”." error={write.fieldErrors.name}>{(p) => <input {...p} className="input" autoFocus value={name} onChange={edit(setName)} />}</Field>
        <Field label="Alias" hint={kind === 'template' ? 'Used in API requests, such as “receipt”. Optional.' : `Templates use it by this name, such as “${kind === 'layout' ? 'base' : 'footer'}”.`} error={write.fieldErrors.alias}>{(p) => <input {...p} className="input font-mono" value={alias} onChange={edit(setAlias)} />}</Field>
        {write.error !== null && <ErrorAlert error={write.error} retry={() => void write.run()} />}
      </form>
    </Dialog>
  )
}
