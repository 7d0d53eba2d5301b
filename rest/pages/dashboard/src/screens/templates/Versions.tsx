import { useQuery } from '@tanstack/react-query'
import { Eye, GitCommitVertical, History } from 'lucide-react'
import { useState } from 'react'
import { usePages } from '@/api/graphql'
import { unwrap, newIdempotencyKey, rest } from '@/api/rest'
import type { components } from '@/api/rest.gen'
import { toast } from '@/app/toasts'
import { Badge } from '@/parts/Badge'
import { CodeBlock } from '@/parts/CodeBlock'
import { ConfirmDialog } from '@/parts/ConfirmDialog'
import { Dialog } from '@/parts/Dialog'
import { EmptyState } from '@/parts/EmptyState'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Detail, DetailList } from '@/parts/Page'
import { SkeletonRows, SkeletonText } from '@/parts/Skeleton'
import { Tabs } from '@/parts/Tabs'
import { Time } from '@/parts/Time'
import { Difference } from '@/screens/code/Difference'
import { Preview } from './Preview'
import { useRender } from './useRender'
import { translationText, type Template } from './draft'
import { TemplateVersions } from './templates.gen'
import type { Editor } from './useEditor'

interface Props {
  template: Template
  editor: Editor
  values: Record<string, unknown>
  write: boolean
}

// Versions lists the published versions; earlier ones can be viewed and published again.
export function Versions({ template, editor, values, write }: Props) {
  const { id } = template
  const list = usePages(TemplateVersions, { id }, (d) => d.template?.versions ?? { nodes: [], pageInfo: { hasNextPage: false } })
  const [look, setLook] = useState<number | null>(null)
  const [back, setBack] = useState<{ version: number; once: string } | null>(null)
  if (list.error) return <ErrorAlert error={list.error} retry={() => void list.refetch()} />
  if (list.isLoading) return <SkeletonRows rows={3} />
  if (list.rows.length === 0) return <EmptyState icon={History} title="Never published">Publish the draft to create version 1. New emails then use it.</EmptyState>
  async function rollBack(version: number, once: string) {
    const answer = await unwrap(rest.POST('/templates/{id}/rollback', { params: { path: { id }, header: { 'Idempotency-Key': once } }, body: { version } }))
    editor.drop()
    editor.took(answer.template)
    toast.success(`Version ${version} published again as version ${answer.template.version}`)
  }
  return (
    <>
      <ul className="grid">
        {list.rows.map((v) => (
          <li key={v.version} className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line-soft py-1.5">
            <GitCommitVertical aria-hidden className="text-ink-3" />
            <b className="font-medium">Version {v.version}</b>
            {v.version === template.version && <Badge tone="ok" icon={GitCommitVertical}>In use</Badge>}
            <span className="min-w-0 flex-1 truncate text-ink-2">{v.subject ?? 'subject set when sending'}</span>
            <span className="text-xs text-ink-3">{v.publishedBy && <><bdi>{v.publishedBy}</bdi>, </>}<Time at={v.publishedAt} /></span>
            <button type="button" className="btn sm" onClick={() => setLook(v.version)}><Eye aria-hidden />View</button>
            {write && v.version !== template.version && <button type="button" className="btn sm" onClick={() => setBack({ version: v.version, once: newIdempotencyKey() })}><History aria-hidden />Roll back</button>}
          </li>
        ))}
      </ul>
      {list.hasNextPage && <button type="button" className="btn mt-3" onClick={() => void list.fetchNextPage()}>Show older versions</button>}
      {look !== null && <VersionDialog id={id} version={look} template={template} values={values} onClose={() => setLook(null)} />}
      {back && (
        <ConfirmDialog title={`Roll back to version ${back.version}?`} label="Roll back and publish" danger onClose={() => setBack(null)} run={() => rollBack(back.version, back.once)}>
          Version {back.version} becomes the draft and a new version, which new emails use. {editor.dirty ? 'Your unsaved changes are lost.' : template.hasUnpublishedChanges ? 'Unpublished changes are lost.' : ''}
        </ConfirmDialog>
      )}
    </>
  )
}

// versionOf is the query of one version.
export const versionOf = (id: string, version: number) => ({ queryKey: ['template version', id, version], queryFn: () => unwrap(rest.GET('/templates/{id}/versions/{version}', { params: { path: { id, version: String(version) } } })).then((a) => a.version), staleTime: Infinity })
type Version = components['schemas']['VersionRecord']

function VersionPreview({ id, version, values }: { id: string; version: number; values: Record<string, unknown> }) {
  return <Preview render={useRender({ id, stamp: '', version, values })} label={`Preview of version ${version}`} />
}

function VersionDialog({ id, version, template, values, onClose }: { id: string; version: number; template: Template; values: Record<string, unknown>; onClose: () => void }) {
  const [tab, setTab] = useState('preview')
  const read = useQuery(versionOf(id, version))
  const before = useQuery({ ...versionOf(id, version - 1), enabled: tab === 'difference' && version > 1 })
  const v = read.data
  return (
    <Dialog title={`Version ${version} of ${template.name}`} wide onClose={onClose} actions={<button type="button" className="btn" onClick={onClose}>Close</button>}>
      {read.error && <ErrorAlert error={read.error} retry={() => void read.refetch()} />}
      {read.isLoading && <SkeletonText />}
      {v && (
        <>
          <DetailList>
            <Detail name="Subject">{v.subject}</Detail>
            <Detail name="From">{v.from}</Detail>
            <Detail name="Published"><Time at={v.published_at} exact />{v.published_by && <> by <bdi>{v.published_by}</bdi></>}</Detail>
            <Detail name="Languages">{v.translations.map((t) => t.locale).join(', ')}</Detail>
            <Detail name="Variables">{v.variables.map((x) => x.key).join(', ')}</Detail>
          </DetailList>
          <Tabs label="Version content" inset="" tabs={[{ key: 'preview', name: 'Preview' }, { key: 'html', name: 'HTML' }, { key: 'text', name: 'Text' }, { key: 'difference', name: `Changes since version ${version - 1}`, hidden: version === 1 }]} value={tab} onChange={setTab}>
            <div className="pt-3">
              {tab === 'preview' && <VersionPreview id={id} version={version} values={values} />}
              {tab === 'difference' && before.error && <ErrorAlert error={before.error} retry={() => void before.refetch()} />}
              {tab === 'difference' && before.isLoading && <SkeletonText />}
              {tab === 'difference' && before.data && <Since before={before.data} after={v} />}
              {tab === 'html' && <CodeBlock text={v.html ?? ''} title={v.html ? 'HTML' : 'No HTML'} wrap />}
              {tab === 'text' && <CodeBlock text={v.text ?? ''} title={v.text ? 'Text' : 'No text: it’s generated from the HTML'} wrap />}
            </div>
          </Tabs>
        </>
      )}
    </Dialog>
  )
}

// Since shows the changes since the previous version.
function Since({ before, after }: { before: Version; after: Version }) {
  const envelope = (v: Version) => [`Subject: ${v.subject ?? 'set when sending'}`, `From: ${v.from ?? 'set when sending'}`, `Reply to: ${v.reply_to.join(', ') || 'nothing'}`, `Category: ${v.category ?? 'none'}`, `Unsubscribe link: ${v.unsubscribe_enabled ? 'yes' : 'no'}`, ...v.variables.map((x) => `Variable ${x.key}: ${x.type}${x.required ? ', required' : ''}`)].join('\n')
  const texts = [['Settings', envelope(before), envelope(after)], ['HTML', before.html ?? '', after.html ?? ''], ['Text', before.text ?? '', after.text ?? ''], ['Languages', before.translations.map(translationText).join('\n\n'), after.translations.map(translationText).join('\n\n')]] as const
  if (texts.every(([, a, b]) => a === b)) return <p className="text-ink-2">The versions are identical.</p>
  return <div className="grid gap-4">{texts.map(([name, a, b]) => <Difference key={name} name={name} before={a} after={b} />)}</div>
}
