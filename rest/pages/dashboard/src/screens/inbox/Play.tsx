import { useNavigate } from '@tanstack/react-router'
import { Send } from 'lucide-react'
import { useState } from 'react'
import { unwrap, newIdempotencyKey, rest } from '@/api/rest'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'

// The behavior of each address.
const parts: Record<string, string> = {
  bounce: 'Rejected permanently by the receiving server',
  'soft-bounce': 'Accepted, then returned later with a bounce report',
  delay: 'Deferred, then accepted on the next attempt',
  complain: 'Accepted, then reported as spam',
  suppress: 'Suppressed, so nothing is sent',
  slow: 'The receiving server takes ten seconds to respond',
}

// Play has buttons that send to addresses of the development domain that simulate failures.
export function Play() {
  const viewer = useViewer()
  const navigate = useNavigate()
  const [busy, setBusy] = useState('')
  const { domain, failures } = viewer.development ?? { domain: null, failures: [] }
  if (!domain) return null
  async function send(part: string) {
    setBusy(part)
    // Addresses that bounce or complain are suppressed, so each test uses a new address.
    const to = `${part}${part === 'hello' ? '' : `+${Date.now().toString(36)}`}@${domain}`
    const why = parts[part] ?? 'Delivered to this inbox'
    try {
      const receipt = await unwrap(rest.POST('/emails', {
        params: { header: { 'Idempotency-Key': newIdempotencyKey() } },
        body: { from: `Dashboard <dashboard@${domain}>`, to, subject: `A test to ${to}`, text: `${why}.\n`, html: `<h1>A test</h1><p>To <b>${to}</b>. ${why}.</p>` },
      }))
      toast.success(`Sent to ${to}`, { label: 'View email', run: () => void navigate({ to: `/emails/${receipt.id}` }) })
    } catch (error) {
      toast.error(error, { label: 'Try again', run: () => void send(part) })
    } finally {
      setBusy('')
    }
  }
  return (
    <div role="group" aria-label="Send a test email" className="flex flex-none flex-wrap items-center gap-2 border-b border-line px-4 py-2 md:px-6">
      <span className="text-xs text-ink-3">Send to</span>
      <button type="button" className="btn sm primary" disabled={busy !== ''} onClick={() => void send('hello')}><Send aria-hidden />hello@</button>
      {failures.map((part) => <button key={part} type="button" className="btn sm" title={parts[part]} aria-label={`Send to ${part}@${domain}. ${parts[part] ?? ''}`} disabled={busy !== ''} onClick={() => void send(part)}>{part}@</button>)}
      <code className="text-ink-3 max-md:hidden">{domain}</code>
    </div>
  )
}
