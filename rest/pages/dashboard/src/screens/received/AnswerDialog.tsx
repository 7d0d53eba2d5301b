import { useRef } from 'react'
import { useNavigate } from '@tanstack/react-router'
import { unwrap, newIdempotencyKey, rest } from '@/api/rest'
import { toast } from '@/app/toasts'
import { Dialog } from '@/parts/Dialog'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Field, useWrite } from '@/parts/Form'
import { formatBytes } from '@/parts/file'
import type { Received } from './Message'

const list = (text: FormDataEntryValue | null) => String(text ?? '').split(/[,;\n]/).map((t) => t.trim()).filter(Boolean)

// AnswerDialog composes a reply, or forwards the email.
export function AnswerDialog({ kind, mail, onClose }: { kind: 'reply' | 'forward'; mail: Received; onClose: () => void }) {
  const navigate = useNavigate()
  const form = useRef<HTMLFormElement>(null)
  const once = useRef(newIdempotencyKey())
  const write = useWrite(async (data: FormData) => {
    const to = list(data.get('to'))
    const text = String(data.get('text'))
    const common = { params: { path: { id: mail.id }, header: { 'Idempotency-Key': once.current } } }
    if (kind === 'reply') return unwrap(rest.POST('/received-emails/{id}/reply', { ...common, body: { text, from: String(data.get('from')), ...(to.length ? { to } : {}) } }))
    return unwrap(rest.POST('/received-emails/{id}/forward', { ...common, body: { to, from: String(data.get('from')), ...(text.trim() ? { text } : {}), with_attachments: data.get('files') === 'on' } }))
  })
  async function send() {
    if (!form.current?.reportValidity()) return
    const sent = await write.run(new FormData(form.current))
    if (!sent) {
      once.current = newIdempotencyKey()
      return
    }
    toast.success(kind === 'reply' ? 'Reply sent' : 'Email forwarded', { label: 'View', run: () => void navigate({ to: `/emails/${sent.id}` }) })
    onClose()
  }
  const size = mail.attachments.reduce((sum, a) => sum + a.size, 0)
  return (
    <Dialog
      wide title={kind === 'reply' ? 'Reply' : 'Forward'} onClose={onClose}
      actions={<><button type="button" className="btn" onClick={onClose}>Cancel</button><button type="button" className="btn primary" disabled={write.busy} onClick={() => void send()}>{kind === 'reply' ? 'Send reply' : 'Forward email'}</button></>}
    >
      <form ref={form} className="grid gap-3" onSubmit={(e) => { e.preventDefault(); void send() }}>
        <Field label="From" error={about(write.fieldErrors, 'from')}>{(f) => <input {...f} name="from" className="input" required defaultValue={mail.rcptTo} />}</Field>
        <Field label="To" hint="Separate several with commas" error={about(write.fieldErrors, 'to')}>{(f) => <input {...f} name="to" className="input" required defaultValue={kind === 'reply' ? (mail.replyTo.length ? mail.replyTo : [mail.from || mail.mailFrom]).map(bare).join(', ') : ''} />}</Field>
        <Field label="Message" error={about(write.fieldErrors, 'text') ?? about(write.fieldErrors, 'html')}>{(f) => <textarea {...f} name="text" className="input" rows={kind === 'reply' ? 8 : 4} required={kind === 'reply'} />}</Field>
        {kind === 'forward' && mail.attachments.length > 0 && <label className="flex items-center gap-2"><input type="checkbox" name="files" defaultChecked className="accent-accent-fill" />Include {mail.attachments.length === 1 ? 'the attachment' : `${mail.attachments.length} attachments`} ({formatBytes(size)})</label>}
      </form>
      {write.error !== null && <ErrorAlert error={write.error} retry={() => void send()} />}
    </Dialog>
  )
}

// bare returns the address of `Bob <bob@example.net>`; a name can contain commas.
const bare = (mailbox: string) => /<([^<>]+)>\s*$/.exec(mailbox)?.[1] ?? mailbox

// about returns the error of a field, or of an entry of its list, such as `to[0]`.
function about(wrong: Record<string, string>, field: string): string | undefined {
  return Object.entries(wrong).find(([key]) => key === field || key.startsWith(`${field}[`))?.[1]
}
