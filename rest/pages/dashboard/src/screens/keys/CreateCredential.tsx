import { useState, type FormEvent } from 'react'
import { unwrap, rest } from '@/api/rest'
import type { components } from '@/api/rest.gen'
import { CopyButton } from '@/parts/CopyButton'
import { Dialog } from '@/parts/Dialog'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Field, keepSecret, OneTimeSecret, useWrite } from '@/parts/Form'
import { Detail, DetailList } from '@/parts/Page'
import { tlsWord } from './Credentials'
import { DomainChoice, useDomains } from './domains'
import { ModeField, type Mode } from './Mode'

type Made = components['schemas']['NewSMTPCredentialAnswer']

export function CreateCredential({ onClose, made }: { onClose: () => void; made: () => void }) {
  const domains = useDomains()
  const [name, setName] = useState('')
  const [mode, setMode] = useState<Mode>('live')
  const [ids, setIds] = useState<string[]>([])
  const [answer, setAnswer] = useState<Made>()
  const create = useWrite(() => unwrap(rest.POST('/smtp-credentials', { body: { name: name.trim(), mode, domain_ids: ids } })))
  async function submit(e: FormEvent) {
    e.preventDefault()
    const created = await create.run()
    if (!created) return
    setAnswer(created)
    made()
  }
  if (answer) {
    const c = answer.smtp_credential
    return (
      <Dialog wide keep={keepSecret} title={`SMTP credential ${c.name}`} onClose={onClose} actions={<button type="button" className="btn primary" onClick={onClose}>I’ve copied it</button>}>
        <OneTimeSecret secret={answer.password} label="password" />
        <DetailList>
          {c.mode === 'test' && <Detail name="Mode">Test. Emails are captured, not sent.</Detail>}
          <Detail name="Host"><code>{c.host}</code><CopyButton text={c.host} label="Copy host" /></Detail>
          <Detail name="Port"><code>{c.port}</code><CopyButton text={String(c.port)} label="Copy port" /></Detail>
          <Detail name="TLS">{tlsWord(c.tls)}</Detail>
          <Detail name="Username"><code>{c.username}</code><CopyButton text={c.username} label="Copy username" /></Detail>
        </DetailList>
      </Dialog>
    )
  }
  return (
    <Dialog title="Create SMTP credential" onClose={onClose}>
      <form onSubmit={(e) => void submit(e)} className="grid gap-4">
        <Field label="Name" hint="Name the app that will use this credential." error={create.fieldErrors.name}>
          {(p) => <input {...p} className="input" value={name} onChange={(e) => setName(e.target.value)} placeholder="web shop" required maxLength={200} autoFocus autoComplete="off" />}
        </Field>
        <ModeField value={mode} onChange={setMode} />
        <DomainChoice domains={domains} value={ids} onChange={setIds} />
        {create.error !== null && <ErrorAlert error={create.error} />}
        <div className="flex justify-end gap-2">
          <button type="button" className="btn" onClick={onClose}>Cancel</button>
          <button type="submit" className="btn primary" disabled={create.busy}>Create credential</button>
        </div>
      </form>
    </Dialog>
  )
}
