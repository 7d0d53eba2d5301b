import { useQueryClient } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { unwrap, rest } from '@/api/rest'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { ConfirmDialog } from '@/parts/ConfirmDialog'
import { CopyableId } from '@/parts/CopyButton'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Field, useWrite } from '@/parts/Form'
import { Card, Detail, DetailList } from '@/parts/Page'
import type { AccountSettingsQuery } from './queries.gen'

type Account = AccountSettingsQuery['account']
type Change = { name?: string; body_retention_days?: number; record_retention_days?: number }

// General edits the account's name and its retention periods.
export function General({ account: a }: { account: Account }) {
  const { can } = useViewer()
  const client = useQueryClient()
  const [shorter, setShorter] = useState<Change>()
  async function write(body: Change) {
    await unwrap(rest.PATCH('/account', { body }))
    await Promise.all([client.invalidateQueries({ queryKey: ['AccountSettings'] }), client.invalidateQueries({ queryKey: ['viewer'] })])
    toast.success('Settings saved')
  }
  const save = useWrite(write)
  function submit(e: FormEvent<HTMLFormElement>) {
    e.preventDefault()
    const data = new FormData(e.currentTarget)
    const [name, body, record] = [String(data.get('name')).trim(), Number(data.get('body')), Number(data.get('record'))]
    const change: Change = { ...(name !== a.name ? { name } : {}), ...(body !== a.bodyRetentionDays ? { body_retention_days: body } : {}), ...(record !== a.recordRetentionDays ? { record_retention_days: record } : {}) }
    if (Object.keys(change).length === 0) return toast.success('No changes to save')
    if (body < a.bodyRetentionDays || record < a.recordRetentionDays) setShorter(change)
    else void save.run(change)
  }
  return (
    <Card title="Account">
      <div className="grid gap-4">
        <DetailList>
          <Detail name="ID"><span className="grid grid-cols-[minmax(0,max-content)]"><CopyableId id={a.id} /></span></Detail>
          <Detail name="Plan">{a.plan.name}</Detail>
          {!can('SETTINGS') && <><Detail name="Name">{a.name}</Detail><Detail name="Content kept">{a.bodyRetentionDays} days</Detail><Detail name="Emails kept">{a.recordRetentionDays} days</Detail></>}
        </DetailList>
        {can('SETTINGS') && (
          <form key={`${a.name} ${a.bodyRetentionDays} ${a.recordRetentionDays}`} onSubmit={submit} className="grid max-w-[420px] gap-3">
            <Field label="Name" error={save.fieldErrors.name}>{(p) => <input {...p} name="name" required maxLength={200} defaultValue={a.name} className="input" />}</Field>
            <Field label="Keep content and attachments (days)" hint="Content is deleted after this; delivery history is kept." error={save.fieldErrors.body_retention_days}>
              {(p) => <input {...p} name="body" type="number" required min={1} max={365} inputMode="numeric" defaultValue={a.bodyRetentionDays} className="input" />}
            </Field>
            <Field label="Keep emails (days)" hint="The whole email is deleted after this. Must be at least as long as for content. Statistics are kept." error={save.fieldErrors.record_retention_days}>
              {(p) => <input {...p} name="record" type="number" required min={1} max={3650} inputMode="numeric" defaultValue={a.recordRetentionDays} className="input" />}
            </Field>
            {save.error && Object.keys(save.fieldErrors).length === 0 ? <ErrorAlert error={save.error} /> : null}
            <button type="submit" className="btn justify-self-start" disabled={save.busy}>Save</button>
          </form>
        )}
      </div>
      {shorter && (
        <ConfirmDialog title="Shorten retention?" label="Shorten retention" danger onClose={() => setShorter(undefined)} run={() => write(shorter)}>
          Stored data older than this is also deleted and can’t be restored.
        </ConfirmDialog>
      )}
    </Card>
  )
}
