import { Link } from '@tanstack/react-router'
import { Plus, Send } from 'lucide-react'
import { unwrap, rest } from '@/api/rest'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { CopyButton } from '@/parts/CopyButton'
import { useWrite } from '@/parts/Form'
import { SegmentedControl } from '@/parts/Tabs'
import type { WebhookRowFragment } from '../webhooks/queries.gen'
import { answerWith } from './hooks'

const answers = [200, 429, 500] as const

// HookTools create the receiver's endpoint, send test events to it, and set its response.
export function HookTools({ url, answer, endpoint, changed }: { url: string; answer: number; endpoint: WebhookRowFragment | null; changed: () => void }) {
  const { can } = useViewer()
  const notify = async (write: () => Promise<unknown>) => {
    try {
      await write()
      changed()
    } catch (error) {
      toast.error(error)
    }
  }
  const create = useWrite(() => notify(async () => {
    await unwrap(rest.POST('/webhooks', { body: { url } }))
    toast.success('Endpoint created. Send a test event.')
  }))
  const test = useWrite(() => notify(async () => {
    await unwrap(rest.POST('/emails/test', { body: { event: 'email.delivered', deliver: true } }))
    toast.success('Test event queued')
  }))
  const choices = (answers as readonly number[]).includes(answer) ? answers : [...answers, answer]
  return (
    <div className="flex flex-none flex-wrap items-center gap-x-3 gap-y-2 border-b border-line px-4 py-2 md:px-6">
      {endpoint ? (
        <>
          {can('WRITE') && <button type="button" className="btn sm primary" disabled={test.busy || !endpoint.enabled} onClick={() => void test.run()}><Send aria-hidden />Send a test event</button>}
          <span className="text-xs text-ink-2">{endpoint.enabled ? '' : 'Disabled. '}<Link to={`/webhooks/${endpoint.id}`} className="link">View endpoint and deliveries</Link></span>
        </>
      ) : (
        <>
          {can('WRITE') && <button type="button" className="btn sm primary" disabled={create.busy} onClick={() => void create.run()}><Plus aria-hidden />Create endpoint</button>}
          <span className="flex min-w-0 items-center gap-0.5 text-xs text-ink-3"><code className="min-w-0 truncate">{url}</code><CopyButton text={url} label="Copy receiver URL" /></span>
        </>
      )}
      {can('WRITE') && (
        <span className="flex items-center gap-2 md:ml-auto">
          <span className="text-xs text-ink-3">Responds with</span>
          <SegmentedControl label="Response status" choices={choices.map((status) => ({ key: String(status), name: String(status) }))} value={String(answer)} onChange={(status) => void notify(() => answerWith(Number(status)))} />
        </span>
      )}
    </div>
  )
}
