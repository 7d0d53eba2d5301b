import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Ban, CalendarClock, CircleMinus, Link2, Send } from 'lucide-react'
import { useRef, useState } from 'react'
import { now } from '@/api/clock'
import { unwrap, newIdempotencyKey, rest } from '@/api/rest'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { ConfirmDialog } from '@/parts/ConfirmDialog'
import { copyText } from '@/parts/CopyButton'
import { Dialog } from '@/parts/Dialog'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Field } from '@/parts/Form'
import { Menu } from '@/parts/Menu'
import { SkeletonText } from '@/parts/Skeleton'
import { reasons } from '../suppressions/look'
import type { Email } from './EmailView'
import { EmailDetail, EmailList } from './queries.gen'
import { useSuppressed, SuppressedNotice } from './Suppressed'

type Asked = 'resend' | 'cancel' | 'reschedule' | 'suppress' | null

// Actions are the actions on an email. They are hidden from users without the right.
export function Actions({ email }: { email: Email }) {
  const { can, has } = useViewer()
  const [asked, setAsked] = useState<Asked>(null)
  const close = () => setAsked(null)
  const scheduled = email.status === 'SCHEDULED'
  const write = can('WRITE')
  return (
    <div className="flex flex-wrap items-center gap-2">
      {scheduled && write && <button type="button" className="btn" onClick={() => setAsked('reschedule')}><CalendarClock aria-hidden />Reschedule</button>}
      {scheduled && write && <button type="button" className="btn" onClick={() => setAsked('cancel')}><CircleMinus aria-hidden />Cancel</button>}
      {!scheduled && can('SEND') && <button type="button" className="btn" onClick={() => setAsked('resend')}><Send aria-hidden />Send again</button>}
      <Menu
        entries={[
          { name: 'Send a copy now', icon: Send, run: () => setAsked('resend'), hidden: !scheduled || !can('SEND') },
          { name: 'Suppress recipient', icon: Ban, run: () => setAsked('suppress'), hidden: !write || !has('suppression') || email.recipients.length !== 1, danger: true },
          { name: 'Copy link', icon: Link2, run: () => void copyText(`${location.origin}/emails/${email.id}`).then(() => toast.success('Link copied'), toast.error) },
        ]}
      />
      {asked === 'resend' && <Resend email={email} onClose={close} />}
      {asked === 'cancel' && <Cancel email={email} onClose={close} />}
      {asked === 'reschedule' && <Reschedule email={email} onClose={close} />}
      {asked === 'suppress' && <Suppress email={email} onClose={close} />}
    </div>
  )
}

interface Asking {
  email: Email
  onClose: () => void
}

function useReread(id: string) {
  const queries = useQueryClient()
  return () => Promise.all([queries.invalidateQueries({ queryKey: [EmailDetail.name, { id }] }), queries.invalidateQueries({ queryKey: [EmailList.name] })])
}

function Resend({ email, onClose }: Asking) {
  const navigate = useNavigate()
  const { can } = useViewer()
  const suppressed = useSuppressed(email)
  const key = useRef(newIdempotencyKey())
  const blocked = suppressed.list.length
  const total = email.recipients.length
  async function run() {
    for (const s of suppressed.list) await unwrap(rest.DELETE('/suppressions/{id}', { params: { path: { id: s.id } } }))
    const sent = await unwrap(rest.POST('/emails/{id}/resend', { params: { path: { id: email.id }, header: { 'Idempotency-Key': key.current } } }))
    if (blocked > 0) void suppressed.refetch()
    toast.success('Sent again as a new email', { label: 'View', run: () => void navigate({ to: `/emails/${sent.id}` }) })
  }
  const what = <p>A new email with the same subject, body and tags is sent to {total === 1 ? email.recipients[0]?.address : `all ${total} recipients`} immediately. Attachments are not included.</p>
  if (suppressed.isPending) return <Dialog title="Send this email again?" onClose={onClose}><SkeletonText lines={3} /></Dialog>
  if (blocked === 0) return <ConfirmDialog title="Send this email again?" label="Send" onClose={onClose} run={run}>{suppressed.error ? <ErrorAlert title="Couldn’t check the suppression list" error={suppressed.error} retry={() => void suppressed.refetch()} /> : null}{what}</ConfirmDialog>
  const problem = <><p>{total === 1 ? 'The recipient is suppressed' : `${blocked} of ${total} recipients ${blocked === 1 ? 'is' : 'are'} suppressed`}, so the email would not be sent{total > 1 && ' to any of them'}.</p><SuppressedNotice list={suppressed.list} /></>
  if (!can('WRITE')) return <Dialog title="This email can’t be sent again" onClose={onClose} actions={<button type="button" className="btn" onClick={onClose}>Close</button>}>{problem}<p className="text-ink-2">Ask a member who can change the suppression list.</p></Dialog>
  return (
    <ConfirmDialog title="Send this email again?" label="Remove from suppression list and send again" danger onClose={onClose} run={run}>
      <div className="grid gap-2">
        {problem}
        {[...new Set(suppressed.list.map((s) => reasons[s.reason].before))].map((text) => <p key={text}>{text}</p>)}
        {what}
      </div>
    </ConfirmDialog>
  )
}

function Cancel({ email, onClose }: Asking) {
  const reread = useReread(email.id)
  async function run() {
    await unwrap(rest.PATCH('/emails/{id}', { params: { path: { id: email.id } }, body: { cancel: true } }))
    await reread()
    toast.success('Email cancelled')
  }
  return <ConfirmDialog title="Cancel this email?" label="Cancel email" danger onClose={onClose} run={run}>It won’t be sent, and can’t be scheduled again.</ConfirmDialog>
}

function Reschedule({ email, onClose }: Asking) {
  const reread = useReread(email.id)
  const [at, setAt] = useState(() => local(new Date(email.scheduledAt ?? now())))
  async function run() {
    await unwrap(rest.PATCH('/emails/{id}', { params: { path: { id: email.id } }, body: { scheduled_at: new Date(at).toISOString() } }))
    await reread()
    toast.success('Email rescheduled')
  }
  return (
    <ConfirmDialog title="Reschedule email" label="Reschedule" onClose={onClose} run={run}>
      <Field label="Time" hint={`In your time zone, ${Intl.DateTimeFormat().resolvedOptions().timeZone}.`}>{(p) => <input {...p} type="datetime-local" className="input" value={at} onChange={(e) => setAt(e.target.value)} />}</Field>
    </ConfirmDialog>
  )
}

const local = (date: Date) => new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)

function Suppress({ email, onClose }: Asking) {
  const address = email.recipients[0]?.address ?? ''
  async function run() {
    await unwrap(rest.POST('/suppressions', { body: { email: address } }))
    toast.success(`${address} suppressed`)
  }
  return <ConfirmDialog title="Suppress this recipient?" label="Suppress" danger onClose={onClose} run={run}>No more emails are sent to <b className="text-ink">{address}</b> until the suppression is removed.</ConfirmDialog>
}
