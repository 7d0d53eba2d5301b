import { useQueryClient } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { unwrap, rest } from '@/api/rest'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Field, useWrite } from '@/parts/Form'
import { Card } from '@/parts/Page'
import { count } from './money'

// OwnLimit is the account's own monthly limit.
export function OwnLimit({ limit }: { limit: number | null }) {
  const { can } = useViewer()
  const client = useQueryClient()
  const save = useWrite(async (monthly_limit: number | null) => {
    await unwrap(rest.PATCH('/billing', { body: { monthly_limit } }))
    await client.invalidateQueries({ queryKey: ['BillingNow'] })
    void client.invalidateQueries({ queryKey: ['UsageNow'] })
    toast.success(monthly_limit === null ? 'Monthly limit removed' : `Monthly limit set to ${count(monthly_limit)} emails`)
  })
  function submit(e: FormEvent<HTMLFormElement>) {
    e.preventDefault()
    const text = String(new FormData(e.currentTarget).get('limit')).trim()
    void save.run(text ? Number(text) : null)
  }
  return (
    <Card title="Your monthly limit">
      <p className="mb-3 text-ink-2">{limit === null ? 'Not set.' : `${count(limit)} emails per month.`} Emails beyond the limit are rejected until the month ends, so that a bug in your app doesn’t cost more than you want.</p>
      {can('BILLING') && (
        <form key={String(limit)} onSubmit={submit} className="grid max-w-[420px] gap-3">
          <Field label="Emails per month" hint="Leave empty for no limit." error={save.fieldErrors.monthly_limit}>
            {(p) => <input {...p} name="limit" type="number" min={1} max={1_000_000_000} step={1} inputMode="numeric" defaultValue={limit ?? ''} className="input" />}
          </Field>
          {save.error && !save.fieldErrors.monthly_limit ? <ErrorAlert error={save.error} /> : null}
          <div className="flex gap-2">
            <button type="submit" className="btn" disabled={save.busy}>Save limit</button>
            {limit !== null && <button type="button" className="btn quiet" disabled={save.busy} onClick={() => void save.run(null)}>Remove limit</button>}
          </div>
        </form>
      )}
    </Card>
  )
}
