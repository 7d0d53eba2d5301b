import { Link, useNavigate } from '@tanstack/react-router'
import { useQueryClient } from '@tanstack/react-query'
import { LayoutTemplate, Plus } from 'lucide-react'
import { useRef, useState } from 'react'
import { keyOf, useAllPages, usePages } from '@/api/graphql'
import { unwrap, newIdempotencyKey, rest } from '@/api/rest'
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

const columns: Column<Row>[] = [
  { key: 'name', head: 'Name', cell: (t) => <Link to={`/templates/${t.id}` as string} className="font-medium hover:underline">{t.name}</Link> },
  { key: 'alias', head: 'Alias', width: '180px', from: 'mid', cell: (t) => (t.alias ? <code className="text-ink-2">{t.alias}</code> : <span className="text-ink-3">none</span>) },
  { key: 'subject', head: 'Subject', width: '30%', from: 'wide', cell: (t) => <span className="text-ink-2">{t.subject ?? 'set when sending'}</span> },
  { key: 'languages', head: 'Languages', width: '140px', from: 'wide', cell: (t) => <Languages locales={t.locales} /> },
  { key: 'status', head: 'Status', width: '176px', cell: (t) => <StatusBadge status={t.status} version={t.version} pending={t.hasUnpublishedChanges} /> },
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

// matches applies the filter: words, `status:` and `alias:`.
function matches(t: Row, q: string): boolean {
  return parseTerms(q).every(({ field, value }) => {
    const wanted = value.replaceAll('"', '').toLowerCase()
    if (field === 'status') return wanted === 'changed' ? t.status === 'PUBLISHED' && t.hasUnpublishedChanges : t.status.toLowerCase() === wanted
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
      <PageHead title="Templates">{can('WRITE') && <button type="button" className="btn primary" onClick={add}><Plus aria-hidden />New template</button>}</PageHead>
      <FilterBar
        placeholder="Name, alias or subject" hints={['status:draft', 'status:published', 'status:changed', 'alias:receipt']}
        choices={[{ field: 'status', label: 'Any status', values: [{ value: 'draft', name: 'Draft' }, { value: 'published', name: 'Published' }, { value: 'changed', name: 'Unpublished changes' }] }]}
        error={termValue(q, 'status') && !['draft', 'published', 'changed'].includes(termValue(q, 'status')) ? 'status: must be draft, published or changed' : undefined}
      />
      <DataTable
        label="Templates" rows={rows} columns={columns} idOf={(t) => t.id} nameOf={(t) => t.name} loading={list.isLoading} error={list.error} retry={() => void list.refetch()}
        more={list.more} hasMore={list.hasNextPage} onOpen={(id) => id && void navigate({ to: `/templates/${id}` as string })}
        empty={q ? (
          <EmptyState icon={LayoutTemplate} title="No templates match" action={<button type="button" className="btn" onClick={() => change({ q: undefined })}>Clear filter</button>} />
        ) : (
          <EmptyState
            icon={LayoutTemplate} title="No templates yet" action={can('WRITE') && <button type="button" className="btn primary" onClick={add}>New template</button>}
            command={{ request: { path: '/templates', body: { name: 'Receipt', alias: 'receipt', subject: 'Your receipt {{order}}', html: '<p>Thank you.</p>' } }, scope: 'full' }}
          >
            Templates are reusable emails with variables.
          </EmptyState>
        )}
      />
      {address.new && can('WRITE') && <NewTemplate onClose={() => change({ new: undefined })} />}
    </>
  )
}

const starter = '<html>\n  <body style="font-family: sans-serif; padding: 24px">\n    <h1>Hello {{ name }}</h1>\n    <p>Write your message here.</p>\n  </body>\n</html>\n'

function NewTemplate({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const client = useQueryClient()
  const [name, setName] = useState('')
  const [alias, setAlias] = useState('')
  const once = useRef(newIdempotencyKey())
  const write = useWrite(async () => {
    const { template } = await unwrap(rest.POST('/templates', {
      params: { header: { 'Idempotency-Key': once.current } },
      body: { name: name.trim(), alias: alias.trim() || null, subject: name.trim(), html: starter, variables: [{ key: 'name', type: 'string', fallback: 'there' }] },
    }))
    void client.invalidateQueries({ queryKey: keyOf(TemplatesDocument) })
    void navigate({ to: `/templates/${template.id}` as string })
  })
  const edit = (set: (v: string) => void) => (e: { target: { value: string } }) => { once.current = newIdempotencyKey(); set(e.target.value) }
  return (
    <Dialog title="New template" onClose={onClose} actions={<><button type="button" className="btn" onClick={onClose}>Cancel</button><button type="submit" form="new-template" className="btn primary" disabled={write.busy || !name.trim()}>Create draft</button></>}>
      <form id="new-template" className="grid gap-3" onSubmit={(e) => { e.preventDefault(); void write.run() }}>
        <Field label="Name" hint="Shown in the dashboard, such as “Receipt”." error={write.fieldErrors.name}>{(p) => <input {...p} className="input" autoFocus value={name} onChange={edit(setName)} />}</Field>
        <Field label="Alias" hint="Used in API requests, such as “receipt”. Optional." error={write.fieldErrors.alias}>{(p) => <input {...p} className="input font-mono" value={alias} onChange={edit(setAlias)} />}</Field>
        {write.error !== null && <ErrorAlert error={write.error} retry={() => void write.run()} />}
      </form>
    </Dialog>
  )
}
