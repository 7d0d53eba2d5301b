import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { Copy, ImagePlus, LayoutTemplate, Save, Send, Trash2, TriangleAlert } from 'lucide-react'
import { useCallback, useEffect, useMemo, useState, type ReactNode } from 'react'
import { ApiError } from '@/api/errors'
import { unwrap, newIdempotencyKey, rest } from '@/api/rest'
import { useSearchParams } from '@/app/searchParams'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { CopyableId } from '@/parts/CopyButton'
import { EmptyState } from '@/parts/EmptyState'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Menu } from '@/parts/Menu'
import { PageHead } from '@/parts/Page'
import { SkeletonRows } from '@/parts/Skeleton'
import { Tabs } from '@/parts/Tabs'
import { Time } from '@/parts/Time'
import { Code, type Completion } from '@/screens/code/Code'
import { LeaveDialog } from '@/screens/code/Dialogs'
import { useSaveKey } from '@/screens/code/unsaved'
import { DeleteDialog, PublishDialog, TestSend } from './Acts'
import { NewerComponents, Within } from './Components'
import { ConflictDialog } from './ConflictDialog'
import { bodyOf, draftOf, partsOf, sampleOf, undeclared, valuesOf, withParts, type Template } from './draft'
import { Fields } from './Fields'
import { History } from './History'
import { ImagesDialog } from './Images'
import { Languages } from './Languages'
import { Preview } from './Preview'
import { Statistics } from './Statistics'
import { StatusBadge } from './StatusBadge'
import { useEditor, useTemplate } from './useEditor'
import { useNames } from './useNames'
import { marksOf, useRender, type Problem } from './useRender'
import { Variables } from './Variables'
import { Versions } from './Versions'

const up = { to: '/templates', name: 'Templates' }

export default function TemplatePage() {
  const { id } = useParams({ strict: false }) as { id: string }
  const read = useTemplate(id)
  if (read.data) return <EditorPage key={read.data.id} template={read.data} />
  const missing = read.error instanceof ApiError && read.error.status === 404
  return (
    <>
      <PageHead up={up} title={read.isLoading ? '' : 'Template'} />
      {read.isLoading && <SkeletonRows rows={6} />}
      {read.error && !missing && <div className="p-4 md:p-6"><ErrorAlert error={read.error} retry={() => void read.refetch()} /></div>}
      {missing && <EmptyState icon={LayoutTemplate} title="Template not found" action={<Link className="btn" to={'/templates' as string}>All templates</Link>}>It was deleted, or it belongs to another account.</EmptyState>}
    </>
  )
}

function EditorPage({ template }: { template: Template }) {
  const { can, has } = useViewer()
  const write = can('DEFINE')
  const editor = useEditor(template)
  const { draft, dirty, change, wrong } = editor
  const [address, setAddress] = useSearchParams()
  const tab = address.tab ?? 'html'
  const position = draft.translations.findIndex((t) => t.locale === address.lang)
  const locale = position < 0 ? '' : (address.lang ?? '')
  const parts = partsOf(draft, locale)
  // fieldOf returns the name of a part in errors.
  const fieldOf = (part: string) => (position < 0 ? part : `translations[${position}].${part}`)
  const partField = tab === 'html' || tab === 'text' ? fieldOf(tab) : ''
  const navigate = useNavigate()
  const [asks, setAsks] = useState<'publish' | 'delete' | 'send' | 'image' | null>(null)
  const [samples, setSamples] = useState<Record<string, string>>({})
  const outer = useTemplate(address.within ?? '', template.kind !== 'template' && Boolean(address.within)).data
  const values = useMemo(() => {
    const own = new Set(draft.variables.map((v) => v.key))
    return valuesOf([...(outer ? draftOf(outer).variables.filter((v) => !own.has(v.key)) : []), ...draft.variables], samples)
  }, [draft.variables, samples, outer])
  const within = useMemo(() => (outer ? { id: outer.id, label: `${template.kind} ${template.alias}` } : undefined), [outer, template.kind, template.alias])
  const changes = useMemo(() => {
    const { name: _name, alias: _alias, ...content } = bodyOf(draft, editor.base)
    return content
  }, [draft, editor.base])
  const render = useRender({ id: template.id, stamp: template.updatedAt, values, changes, within })
  editor.useAutosave(write && render.valid)
  const [at, setAt] = useState<{ from: number; to: number }>()
  const [insert, setInsert] = useState<{ text: string }>()
  const marks = useMemo(() => (tab === 'html' || tab === 'text' ? marksOf(render.problems, partField, parts[tab]) : []), [render.problems, tab, partField, parts])
  const show = useCallback((lang: string) => setAddress({ lang: lang || undefined }), [setAddress])
  const preview = render.setLocale
  useEffect(() => preview(locale), [preview, locale])
  const completions = useMemo(() => [...draft.variables.map((v): Completion => ({ name: v.key, type: v.type, example: samples[v.key] ?? sampleOf(v) })), { name: 'unsubscribe_url', type: 'link', example: '' }], [draft.variables, samples])
  const names = useNames(template, parts[tab === 'text' ? 'text' : 'html'])
  const go = useCallback(
    (p: Problem) => {
      const [, at, part] = /^(?:translations\[(\d+)\]\.)?(html|text)$/.exec(p.field) ?? []
      if (part === 'html' || part === 'text') {
        const lang = at === undefined ? '' : (draft.translations[Number(at)]?.locale ?? '')
        setAddress({ tab: part, lang: lang || undefined })
        const [mark] = marksOf([p], p.field, partsOf(draft, lang)[part])
        if (mark) setTimeout(() => setAt({ from: mark.from, to: mark.to }))
      } else if (p.field.startsWith('variables')) setAddress({ tab: 'variables' })
    },
    [draft, setAddress],
  )
  const saveNow = useCallback(() => { if (write && dirty && !editor.busy) void editor.save() }, [write, dirty, editor])
  useSaveKey(saveNow)
  async function duplicate() {
    try {
      const { template: copy } = await unwrap(rest.POST('/templates/{id}/duplicate', { params: { path: { id: template.id }, header: { 'Idempotency-Key': newIdempotencyKey() } } }))
      toast.success(`${copy.name} created`, { label: 'Open', run: () => void navigate({ to: `/templates/${copy.id}` as string }) })
    } catch (e) {
      toast.error(e, { label: 'Try again', run: () => void duplicate() })
    }
  }
  const missing = undeclared(draft).length
  return (
    <>
      <PageHead up={up} title={template.name}>
        {write && <button type="button" className={`btn ${dirty ? 'primary' : ''}`} disabled={!dirty || editor.busy} onClick={saveNow} title="Ctrl S"><Save aria-hidden />{editor.saving ? 'Saving…' : dirty ? 'Save' : 'Saved'}</button>}
        {write && <button type="button" className={`btn ${!dirty && template.hasUnpublishedChanges ? 'primary' : ''}`} disabled={!dirty && !template.hasUnpublishedChanges && !template.hasNewerComponents && template.version !== null} onClick={() => setAsks('publish')}>Publish</button>}
        <Menu entries={[
          { name: 'Send test email', icon: Send, run: () => setAsks('send'), hidden: !can('SEND') || !write || template.kind !== 'template' },
          { name: 'Duplicate', icon: Copy, run: () => void duplicate(), hidden: !write },
          { name: 'Delete', icon: Trash2, run: () => setAsks('delete'), danger: true, hidden: !write },
        ]} />
      </PageHead>
      <div className="min-h-0 flex-1 overflow-auto" tabIndex={-1}>
        <div className="grid min-w-0 gap-4 p-4 md:p-6 lg:grid-cols-[minmax(0,1fr)_minmax(0,1fr)] lg:gap-6 min-[1400px]:grid-cols-[minmax(0,1fr)_644px]">
          <div className="grid min-w-0 content-start gap-4">
            <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-3">
              <StatusBadge status={template.status} version={template.version} pending={template.hasUnpublishedChanges} outdated={template.hasNewerComponents} />{template.kind !== 'template' && <span>{template.kind === 'layout' ? 'Layout' : 'Partial'}</span>}<CopyableId id={template.id} /><span>changed <Time at={template.updatedAt} /></span>
            </div>
            {editor.restored && dirty && <Notice text="Restored your unsaved changes from this tab." act="Discard" run={editor.drop} />}
            {editor.changedAt && <Notice text={<>Someone else saved this template <Time at={editor.changedAt} />. You’ll be asked before you overwrite it.</>} act="Discard mine and load theirs" run={editor.drop} />}
            <NewerComponents template={template} editor={editor} write={write} />
            {editor.error !== null && <ErrorAlert title="Not saved. Your text is still here." error={editor.error} retry={saveNow} />}
            <Languages draft={draft} locale={locale} locked={!write} show={show} change={change} />
            {template.kind !== 'template' && template.alias && <Within template={template} value={address.within ?? ''} choose={(id) => setAddress({ within: id })} />}
            <Fields kind={template.kind} draft={draft} locale={locale} wrong={wrong} locked={!write} change={change} />
            <div className="grid min-w-0">
              <Tabs
                label="Template parts" inset="" value={tab} onChange={(key) => setAddress({ tab: key })}
                tabs={[{ key: 'html', name: 'HTML' }, { key: 'text', name: 'Text' }, { key: 'variables', name: missing ? 'Variables !' : 'Variables', count: draft.variables.length }, { key: 'versions', name: 'Versions', count: template.version ?? undefined }, { key: 'history', name: 'History' }, { key: 'statistics', name: 'Statistics', hidden: !has('statistics') || !has('sending') || template.kind !== 'template' }]}
              >
                <div className="pt-3">
                  {tab === 'html' && write && <div className="mb-2 flex flex-wrap items-center gap-2"><button type="button" className="btn sm" onClick={() => setAsks('image')}><ImagePlus aria-hidden />Insert image</button><span className="text-xs text-ink-3">Type <code>{'{{'}</code> to insert a variable.</span></div>}
                  {tab === 'html' && <Code key={locale} height="h-[340px] md:h-[480px]" label="HTML" language="html" value={parts.html} readOnly={!write} onChange={(html) => change(withParts(draft, locale, { html }))} marks={marks} at={at} insert={insert} completions={completions} names={names} />}
                  {tab === 'text' && <div className="grid gap-2"><p className="text-xs text-ink-3">If empty, it’s generated from the HTML.</p><Code key={locale} height="h-[340px] md:h-[480px]" label="Text" language="text" value={parts.text} readOnly={!write} onChange={(text) => change(withParts(draft, locale, { text }))} marks={marks} at={at} completions={completions} names={names} /></div>}
                  {(tab === 'html' || tab === 'text') && (render.problems.find((p) => p.field === partField)?.message ?? wrong[partField]) && <Wrong problem={render.problems.find((p) => p.field === partField)} text={wrong[partField]} go={go} />}
                  {tab === 'variables' && <Variables draft={draft} locked={!write} wrong={wrong} change={(variables) => change({ variables })} samples={samples} sample={(key, value) => setSamples((s) => ({ ...s, [key]: value }))} />}
                  {tab === 'history' && <History template={template} editor={editor} values={values} write={write} />}
                  {tab === 'statistics' && <Statistics id={template.id} name={template.name} />}
                  {tab === 'versions' && <Versions template={template} editor={editor} values={values} write={write} />}
                </div>
              </Tabs>
            </div>
          </div>
          <Preview render={render} go={go} languages={draft.translations.map((t) => t.locale)} />
        </div>
      </div>
      {asks === 'publish' && <PublishDialog template={template} editor={editor} onClose={() => setAsks(null)} />}
      {asks === 'delete' && <DeleteDialog template={template} editor={editor} onClose={() => setAsks(null)} />}
      {asks === 'send' && <TestSend template={template} values={values} recipient={render.recipient} dirty={dirty} onClose={() => setAsks(null)} />}
      {asks === 'image' && <ImagesDialog insert={(text) => setInsert({ text })} onClose={() => setAsks(null)} />}
      {editor.conflict && !asks && <ConflictDialog conflict={editor.conflict} editor={editor} />}
      <LeaveDialog leaving={editor.leaving} drop={editor.drop} />
    </>
  )
}

// Wrong is the error of the text that is being edited, below it.
function Wrong({ problem, text, go }: { problem?: Problem; text?: string; go: (p: Problem) => void }) {
  if (!problem) return <p className="mt-1 text-xs text-bad">{text}</p>
  return (
    <p className="mt-1 text-xs text-bad">
      {problem.line > 0 && <><button type="button" className="underline underline-offset-2" onClick={() => go(problem)}>Line {problem.line}{problem.column > 0 ? `, column ${problem.column}` : ''}</button>: </>}
      <span className="wrap-anywhere">{problem.message}</span>
    </p>
  )
}

function Notice({ text, act, run }: { text: ReactNode; act: string; run: () => void }) {
  return (
    <div role="status" className="flex flex-wrap items-center gap-2 rounded-control bg-warn-soft px-3 py-2 text-warn">
      <TriangleAlert aria-hidden /><span className="min-w-0 flex-1">{text}</span><button type="button" className="btn sm" onClick={run}>{act}</button>
    </div>
  )
}
