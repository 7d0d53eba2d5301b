import { useQueries } from '@tanstack/react-query'
import { CircleArrowUp } from 'lucide-react'
import { useRef, useState } from 'react'
import { useGraphQL } from '@/api/graphql'
import { newIdempotencyKey } from '@/api/rest'
import { Dialog } from '@/parts/Dialog'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { useWrite } from '@/parts/Form'
import { SkeletonText } from '@/parts/Skeleton'
import { Difference } from '@/screens/code/Difference'
import { publishDraft } from './Acts'
import { translationText, type Template } from './draft'
import { TemplatesWithComponents } from './templates.gen'
import type { Editor } from './useEditor'
import { versionOf } from './Versions'

type Component = Template['components'][number]

const listFormat = new Intl.ListFormat('en')

// NewerComponents says that newer versions of the layout or of partials are published, shows their changes, and publishes
// the template with them.
export function NewerComponents({ template, editor, write }: { template: Template; editor: Editor; write: boolean }) {
  const newer = template.components.filter((c) => c.latest_version !== null && c.latest_version > c.version)
  const [look, setLook] = useState(false)
  const once = useRef(newIdempotencyKey())
  const publish = useWrite(async () => {
    await publishDraft(template, editor, once.current)
    once.current = newIdempotencyKey()
    setLook(false)
  })
  if (newer.length === 0) return null
  const names = listFormat.format(newer.map((c) => `the ${c.kind} ${c.name}`))
  const label = editor.dirty || template.hasUnpublishedChanges ? 'Publish the draft with it' : 'Publish with it'
  const button = write && <button type="button" className="btn primary sm" disabled={publish.busy || editor.busy} onClick={() => void publish.run()}>{label}</button>
  return (
    <>
      <div role="status" className="flex flex-wrap items-center gap-2 rounded-control border border-line bg-sunken px-3 py-2">
        <CircleArrowUp aria-hidden /><span className="min-w-0 flex-1 wrap-anywhere">{newer.length === 1 ? `A newer version of ${names} is published.` : `Newer versions of ${names} are published.`}</span>
        <button type="button" className="btn sm" onClick={() => setLook(true)}>View changes</button>{!look && button}
      </div>
      {publish.error !== null && <ErrorAlert title="Not published" error={publish.error} retry={() => void publish.run()} />}
      {look && (
        <Dialog title="Changes of layouts and partials" wide onClose={() => setLook(false)} actions={<><button type="button" className="btn" onClick={() => setLook(false)}>Close</button>{button}</>}>
          {newer.map((c) => <ComponentChanges key={c.template_id} component={c} />)}
        </Dialog>
      )}
    </>
  )
}

// ComponentChanges shows the changes between the version of a component in the template and the published one.
function ComponentChanges({ component: c }: { component: Component }) {
  const [before, after] = useQueries({ queries: [versionOf(c.template_id, c.version), versionOf(c.template_id, c.latest_version ?? c.version)] })
  const failed = [before, after].find((q) => q.error)
  if (failed) return <ErrorAlert error={failed.error} retry={() => void failed.refetch()} />
  if (!before.data || !after.data) return <SkeletonText />
  const parts = [['HTML', before.data.html ?? '', after.data.html ?? ''], ['Text', before.data.text ?? '', after.data.text ?? ''], ['Languages', before.data.translations.map(translationText).join('\n\n'), after.data.translations.map(translationText).join('\n\n')]] as const
  return (
    <div className="grid gap-2">
      <p className="text-ink-2 wrap-anywhere">{c.name}: version {c.version} to {c.latest_version}</p>
      {parts.every(([, a, b]) => a === b) ? <p className="text-ink-3">The content is the same.</p> : parts.map(([name, a, b]) => <Difference key={name} name={name} before={a} after={b} />)}
    </div>
  )
}

// Within chooses the template that a layout or partial is shown in. Templates that use it come first.
export function Within({ template, value, choose }: { template: Template; value: string; choose: (id: string | undefined) => void }) {
  const list = useGraphQL(TemplatesWithComponents, {})
  const all = list.data?.templates.nodes ?? []
  const uses = all.filter((t) => t.components.some((c) => c.templateId === template.id))
  const others = all.filter((t) => !uses.includes(t))
  return (
    <label className="flex items-center gap-2 text-xs text-ink-2">Preview in
      <select className="input sm w-auto max-w-60" value={value} onChange={(e) => choose(e.target.value || undefined)}>
        <option value="">no template</option>
        {[...uses, ...others].map((t) => <option key={t.id} value={t.id}>{t.name}</option>)}
      </select>
    </label>
  )
}
