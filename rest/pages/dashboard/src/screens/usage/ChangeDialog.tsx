import { useQuery } from '@tanstack/react-query'
import { unwrap, rest } from '@/api/rest'
import { toast } from '@/app/toasts'
import { Dialog } from '@/parts/Dialog'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { useWrite } from '@/parts/Form'
import { SkeletonText } from '@/parts/Skeleton'
import { dayOf, money } from './money'
import type { Plan } from './Plans'

// ChangeDialog shows the cost of a plan change and makes it.
export function ChangeDialog({ plan, onClose, changed }: { plan: Plan; onClose: () => void; changed: () => void }) {
  const quote = useQuery({ queryKey: ['plan-quote', plan.id], queryFn: () => unwrap(rest.POST('/billing/plan/preview', { body: { plan: plan.id } })), staleTime: 0, gcTime: 0 })
  const change = useWrite(async () => {
    const { effective } = await unwrap(rest.PUT('/billing/plan', { body: { plan: plan.id } }))
    changed()
    toast.success(effective === 'now' ? `Plan changed to ${plan.name}` : `Plan changes to ${plan.name} at the end of the period`)
    onClose()
  })
  const q = quote.data
  return (
    <Dialog
      title={`Change to ${plan.name}`} onClose={onClose}
      actions={<><button type="button" className="btn" onClick={onClose}>Cancel</button><button type="button" className="btn primary" disabled={!q || change.busy} onClick={() => void change.run()}>{q && q.amount_due > 0 ? `Pay ${money(q.amount_due, q.currency)} and change` : 'Change plan'}</button></>}
    >
      {quote.error ? <ErrorAlert error={quote.error} retry={() => void quote.refetch()} /> : !q ? <SkeletonText lines={3} /> : (
        <div className="grid gap-2 text-ink-2">
          <p>{q.effective === 'now' ? 'Takes effect immediately.' : `Takes effect from ${dayOf(q.effective_at) || 'the end of the period'}. Until then, nothing changes.`}</p>
          {q.lines.length > 0 && (
            <table className="w-full text-left">
              <thead className="sr-only"><tr><th scope="col">Item</th><th scope="col">Amount</th></tr></thead>
              <tbody>{q.lines.map((l, i) => <tr key={i} className="border-b border-line-soft"><th scope="row" className="py-1 font-normal wrap-anywhere">{l.description}</th><td className="text-right whitespace-nowrap">{money(l.amount, q.currency)}</td></tr>)}</tbody>
            </table>
          )}
          <p className="font-medium text-ink">Due now: {money(q.amount_due, q.currency)}</p>
        </div>
      )}
      {change.error ? <ErrorAlert error={change.error} /> : null}
    </Dialog>
  )
}
