import { CircleMinus, Send } from 'lucide-react'
import { useViewer } from '@/app/viewer'
import type { BulkAction } from '@/parts/BulkBar'

const loadRest = () => import('@/api/rest') // the first page has no writes

// A retry after an unknown outcome must not send twice: each email keeps its key while this page is open.
const keys = new Map<string, string>()
function keyFor(id: string, create: () => string): string {
  const key = keys.get(id) ?? create()
  keys.set(id, key)
  return key
}

// useBulk returns the bulk actions on emails.
export function useBulk(): BulkAction[] {
  const { can } = useViewer()
  const all: (BulkAction & { may: boolean })[] = [
    {
      name: 'Send again', icon: Send, may: can('SEND'), description: 'A new email with the same subject, body and tags is sent immediately to the recipients of each. Attachments are not included.',
      run: async (id) => {
        const { newIdempotencyKey, rest, unwrap } = await loadRest()
        await unwrap(rest.POST('/emails/{id}/resend', { params: { path: { id }, header: { 'Idempotency-Key': keyFor(id, newIdempotencyKey) } } }))
        keys.delete(id)
      },
    },
    {
      name: 'Cancel', icon: CircleMinus, danger: true, may: can('WRITE'), description: 'Scheduled emails are cancelled. Others can’t be cancelled and stay unchanged.',
      run: async (id) => {
        const { rest, unwrap } = await loadRest()
        await unwrap(rest.PATCH('/emails/{id}', { params: { path: { id } }, body: { cancel: true } }))
      },
    },
  ]
  return all.filter((a) => a.may)
}
