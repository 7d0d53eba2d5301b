import { Link, useNavigate } from '@tanstack/react-router'
import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { ApiError } from '@/api/errors'
import { keyOf } from '@/api/graphql'
import { unwrap, newIdempotencyKey, rest } from '@/api/rest'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { ConfirmDialog } from '@/parts/ConfirmDialog'
import { Dialog } from '@/parts/Dialog'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Field, useWrite } from '@/parts/Form'
import type { Template } from './draft'
import { Templates } from './templates.gen'
import type { Recipient } from './useRender'
import type { Editor } from './useEditor'

// publishDraft publishes the draft, after saving unsaved changes.
export async function publishDraft(template: Template, editor: Editor, key: string) {
  if (!(await editor.save())) return // the page says why
  const answer = await unwrap(rest.POST('/templates/{id}/publish', { params: { path: { id: template.id }, header: { 'Idempotency-Key': key } } }))
  editor.took(answer.template)
  toast.success(`Version ${answer.template.version} published`)
  for (const w of answer.warnings) toast.error(new Error(w))
}

// PublishDialog publishes the draft, after saving unsaved changes.
export function PublishDialog({ template, editor, onClose }: { template: Template; editor: Editor; onClose: () => void }) {
  const once = useRef(newIdempotencyKey())
  return (
    <ConfirmDialog title="Publish the draft?" label={editor.dirty ? 'Save and publish' : 'Publish'} onClose={onClose} run={() => publishDraft(template, editor, once.current)}>
      {template.kind === 'template' ? 'New emails use' : 'Templates published from now on use'} the draft{template.version ? ` instead of version ${template.version}` : ''}. You can roll back under Versions.
    </ConfirmDialog>
  )
}

// DeleteDialog asks before a template is deleted.
export function DeleteDialog({ template, editor, onClose }: { template: Template; editor: Editor; onClose: () => void }) {
  const navigate = useNavigate()
  const client = useQueryClient()
  const { can } = useViewer()
  const [users, setUsers] = useState<string[]>([])
  async function remove() {
    try {
      await unwrap(rest.DELETE('/templates/{id}', { params: { path: { id: template.id }, query: { force: users.length > 0 } } }))
    } catch (e) {
      if (e instanceof ApiError && Array.isArray(e.details.used_by) && can('SETTINGS')) setUsers(e.details.used_by as string[])
      throw e
    }
    editor.drop()
    void client.invalidateQueries({ queryKey: keyOf(Templates) })
    toast.success(`${template.name} deleted`)
    setTimeout(() => void navigate({ to: '/templates' as string }))
  }
  return (
    <ConfirmDialog title={`Delete ${template.name}?`} label={users.length > 0 ? 'Delete anyway' : `Delete ${template.kind}`} danger onClose={onClose} run={remove}>
      {users.length > 0 ? <>It is used by {users.join(', ')}. If you delete it, automations with it fail, and published templates keep its content but can’t be published again until they stop using it.</> : template.kind !== 'template' ? <>Its versions are deleted too. This cannot be undone.</> : <>Emails that use it{template.alias ? <> by <code>{template.alias}</code></> : ''} will be rejected. Its versions are deleted too. This cannot be undone.</>}
    </ConfirmDialog>
  )
}

// TestSend sends the published version to an address, with the sample values.
export function TestSend({ template, values, recipient, dirty, onClose }: { template: Template; values: Record<string, unknown>; recipient: Recipient; dirty: boolean; onClose: () => void }) {
  const { user, account, development } = useViewer()
  const [to, setTo] = useState(user?.email ?? account?.email ?? '')
  const [from, setFrom] = useState(template.from ?? '')
  const [subject, setSubject] = useState(template.subject ?? 'Test')
  const [what, setWhat] = useState<'draft' | 'published'>(template.hasUnpublishedChanges || template.status === 'DRAFT' ? 'draft' : 'published')
  const [sent, setSent] = useState<string | null>(null)
  const once = useRef(newIdempotencyKey())
  const edit = (set: (v: string) => void) => (e: { target: { value: string } }) => { once.current = newIdempotencyKey(); set(e.target.value) }
  const write = useWrite(async () => {
    const header = { 'Idempotency-Key': once.current }
    if (what === 'published') {
      const body = { to, ...(from && from !== template.from ? { from } : {}), ...(template.subject ? {} : { subject }), template: { id: template.id, ...recipient, variables: values }, tags: [{ name: 'test', value: 'template' }] }
      setSent((await unwrap(rest.POST('/emails', { params: { header }, body }))).id)
      return
    }
    // A draft is rendered by the service, and the result is sent.
    const { rendered } = await unwrap(rest.POST('/templates/{id}/render', { params: { path: { id: template.id } }, body: { version: 'draft', ...recipient, variables: values } }))
    const body = { to, from, subject: rendered.subject ?? subject, html: rendered.html, text: rendered.text, tags: [{ name: 'test', value: 'template' }] }
    setSent((await unwrap(rest.POST('/emails', { params: { header }, body }))).id)
  })
  return (
    <Dialog
      title="Send test email" onClose={onClose}
      actions={<><button type="button" className="btn" onClick={onClose}>{sent ? 'Close' : 'Cancel'}</button>{!sent && <button type="submit" form="test-send" className="btn primary" disabled={write.busy || !to}>Send</button>}</>}
    >
      {sent ? (
        <p role="status">Email accepted. <Link className="link under" to={`/emails/${sent}` as string}>View delivery</Link></p>
      ) : (
        <form id="test-send" className="grid gap-3" onSubmit={(e) => { e.preventDefault(); void write.run() }}>
          <Field label="Version">{(p) => (
            <select {...p} className="input" value={what} onChange={(e) => { once.current = newIdempotencyKey(); setWhat(e.target.value as 'draft' | 'published') }}>
              <option value="draft">Saved draft</option>
              {template.version !== null && <option value="published">Version {template.version}, the published one</option>}
            </select>
          )}</Field>
          {dirty && what === 'draft' && <p className="rounded-control bg-warn-soft px-3 py-2 text-warn">Unsaved changes aren’t included.</p>}
          <Field label="To" hint={development ? 'In development, it stays in the inbox.' : 'This is a real email and counts toward your usage.'} error={write.fieldErrors.to}>{(p) => <input {...p} type="email" className="input" autoFocus required value={to} onChange={edit(setTo)} />}</Field>
          {(what === 'draft' || !template.from) && <Field label="From" hint="Must be on a verified domain." error={write.fieldErrors.from}>{(p) => <input {...p} className="input" required value={from} onChange={edit(setFrom)} />}</Field>}
          {!template.subject && <Field label="Subject" hint="The template has no subject." error={write.fieldErrors.subject}>{(p) => <input {...p} className="input" required value={subject} onChange={edit(setSubject)} />}</Field>}
          {write.error !== null && <ErrorAlert error={write.error} retry={() => void write.run()} />}
        </form>
      )}
    </Dialog>
  )
}
