import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Eye, History as HistoryIcon, PencilLine } from 'lucide-react'
import { useMemo, useState } from 'react'
import { unwrap, newIdempotencyKey, rest } from '@/api/rest'
import type { components } from '@/api/rest.gen'
import { toast } from '@/app/toasts'
import { Badge } from '@/parts/Badge'
import { ConfirmDialog } from '@/parts/ConfirmDialog'
import { Dialog } from '@/parts/Dialog'
import { EmptyState } from '@/parts/EmptyState'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { SkeletonRows, SkeletonText } from '@/parts/Skeleton'
import { Tabs } from '@/parts/Tabs'
import { Time } from '@/parts/Time'
import { Difference } from '@/screens/code/Difference'
import { translationText, type Template } from './draft'
import { Preview } from './Preview'
import { editsKey, type Editor } from './useEditor'
import { useRender, type Changes } from './useRender'

type Edit = components['schemas']['EditRecord']

// History lists the saved states of the draft with their authors. Each can be viewed and restored.
export function History({ template, editor, values, write }: { template: Template; editor: Editor; values: Record<string, unknown>; write: boolean }) {
  const { id } = template
  const list = useInfiniteQuery({
    queryKey: editsKey(id), initialPageParam: '',
    queryFn: ({ pageParam }) => unwrap(rest.GET('/templates/{id}/edits', { params: { path: { id }, query: { limit: 50, ...(pageParam ? { cursor: pageParam } : {}) } } })),
    getNextPageParam: (last) => last.next_cursor ?? undefined,
  })
  const [shown, setShown] = useState<number | null>(null)
  const [back, setBack] = useState<{ edit: number; once: string } | null>(null)
  if (list.error) return <ErrorAlert error={list.error} retry={() => void list.refetch()} />
  if (list.isLoading) return <SkeletonRows rows={3} />
  const rows = list.data?.pages.flatMap((p) => p.edits) ?? []
  if (rows.length === 0) return <EmptyState icon={HistoryIcon} title="No edits yet">Saved changes will show up here, with their authors.</EmptyState>
  async function restore(edit: number, once: string) {
    const answer = await unwrap(rest.POST('/templates/{id}/edits/{edit}/restore', { params: { path: { id, edit: String(edit) }, header: { 'Idempotency-Key': once } } }))
    editor.drop()
    editor.took(answer.template)
    toast.success(`Edit ${edit} restored as the draft`)
  }
  return (
    <>
      <ul className="grid">
        {rows.map((e, i) => (
          <li key={e.edit} className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line-soft py-1.5">
            <PencilLine aria-hidden className="text-ink-3" />
            <b className="font-medium">Edit {e.edit}</b>
            {i === 0 && <Badge>Draft</Badge>}
            <span className="min-w-0 flex-1 truncate text-ink-2" title={e.author ?? undefined}><bdi>{e.author ?? 'Unknown author'}</bdi></span>
            <span className="text-xs text-ink-3"><Time at={e.saved_at} /></span>
            <button type="button" className="btn sm" aria-label={`View edit ${e.edit}`} onClick={() => setShown(e.edit)}><Eye aria-hidden />View</button>
            {write && i > 0 && <button type="button" className="btn sm" aria-label={`Restore edit ${e.edit}`} onClick={() => setBack({ edit: e.edit, once: newIdempotencyKey() })}><HistoryIcon aria-hidden />Restore</button>}
          </li>
        ))}
      </ul>
      {list.hasNextPage && <button type="button" className="btn mt-3" onClick={() => void list.fetchNextPage()}>Show older edits</button>}
      {shown !== null && <EditDialog template={template} number={shown} values={values} onClose={() => setShown(null)} />}
      {back && (
        <ConfirmDialog title={`Restore edit ${back.edit}?`} label="Restore as draft" onClose={() => setBack(null)} run={() => restore(back.edit, back.once)}>
          Edit {back.edit} becomes the draft. The present draft stays in the history.{editor.dirty ? ' Your unsaved changes are lost.' : ''}
        </ConfirmDialog>
      )}
    </>
  )
}

// changesOf returns an edit in the form of unsaved changes, to render it.
const changesOf = (e: Edit): Changes => ({
  subject: e.subject, from: e.from, reply_to: e.reply_to, html: e.html, text: e.text, unsubscribe_enabled: e.unsubscribe_enabled, category: e.category, translations: e.translations,
  variables: e.variables.map((v) => ({ key: v.key, type: v.type, required: v.required, ...(v.fallback === null ? {} : { fallback: v.fallback }) })),
})

function EditDialog({ template, number, values, onClose }: { template: Template; number: number; values: Record<string, unknown>; onClose: () => void }) {
  const { id } = template
  const read = useQuery({ queryKey: [...editsKey(id), number], queryFn: () => unwrap(rest.GET('/templates/{id}/edits/{edit}', { params: { path: { id, edit: String(number) } } })).then((a) => a.edit) })
  return (
    <Dialog title={`Edit ${number} of ${template.name}`} wide onClose={onClose} actions={<button type="button" className="btn" onClick={onClose}>Close</button>}>
      {read.error && <ErrorAlert error={read.error} retry={() => void read.refetch()} />}
      {read.isLoading && <SkeletonText />}
      {read.data && <EditView template={template} edit={read.data} values={values} />}
    </Dialog>
  )
}

function EditView({ template, edit, values }: { template: Template; edit: Edit; values: Record<string, unknown> }) {
  const [tab, setTab] = useState('preview')
  const changes = useMemo(() => changesOf(edit), [edit])
  const render = useRender({ id: template.id, stamp: String(edit.edit), values, changes })
  const texts = [['Subject', edit.subject ?? '', template.subject ?? ''], ['HTML', edit.html ?? '', template.html ?? ''], ['Text', edit.text ?? '', template.text ?? ''], ['Languages', edit.translations.map(translationText).join('\n\n'), template.translations.map(translationText).join('\n\n')]] as const
  return (
    <>
      <p className="text-ink-2">Saved <Time at={edit.saved_at} exact /> by <bdi>{edit.author ?? 'an unknown author'}</bdi>.</p>
      <Tabs label="Edit content" inset="" value={tab} onChange={setTab} tabs={[{ key: 'preview', name: 'Preview' }, { key: 'difference', name: 'Changes up to the draft' }]}>
        <div className="pt-3">
          {tab === 'preview' && <Preview render={render} label={`Preview of edit ${edit.edit}`} />}
          {tab === 'difference' && (texts.every(([, a, b]) => a === b) ? <p className="text-ink-2">The texts are identical.</p> : <div className="grid gap-4">{texts.map(([name, a, b]) => <Difference key={name} name={name} before={a} after={b} />)}</div>)}
        </div>
      </Tabs>
    </>
  )
}
