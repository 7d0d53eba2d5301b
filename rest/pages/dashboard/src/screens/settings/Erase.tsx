import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { query } from '@/api/graphql'
import { unwrap, rest } from '@/api/rest'
import type { components } from '@/api/rest.gen'
import { ConfirmDialog } from '@/parts/ConfirmDialog'
import { Field } from '@/parts/Form'
import { Card } from '@/parts/Page'
import { ErasedYet } from './queries.gen'

type Erased = components['schemas']['ErasedAnswer']['erased']

const names: Record<keyof Erased, string> = { emails: 'emails to the address', redacted: 'emails to several people, with the address redacted', received: 'emails received', events: 'events', suppressions: 'suppressions, which stay in effect' }

// Emails are counted up to this limit.
const most = 10_000

// leftOf counts the emails to an address that are still stored.
const leftOf = async (email: string) => (await query(ErasedYet, { email })).emails.count.value

// watched reports how many emails are erased: when `erasing` begins, and then about every second.
async function watched<T>(email: string, erasing: () => Promise<T>, report: (gone: number, of: number) => void): Promise<T> {
  const of = await leftOf(email).catch(() => 0)
  if (of === 0) return erasing()
  report(0, of)
  const timer = setInterval(() => void leftOf(email).then((left) => report(Math.max(0, of - left), of), () => undefined), 1000)
  return erasing().finally(() => clearInterval(timer))
}

// Erase deletes all data about a recipient, at the recipient's request.
export function Erase() {
  const client = useQueryClient()
  const [email, setEmail] = useState('')
  const [asking, setAsking] = useState(false)
  const [erased, setErased] = useState<{ email: string; of: Erased } | null>(null)
  const [at, setAt] = useState<{ gone: number; of: number } | null>(null)
  const whom = email.trim()
  return (
    <Card title="Erase a person’s data">
      <form className="grid justify-items-start gap-3" onSubmit={(e) => { e.preventDefault(); if (whom) setAsking(true) }}>
        <p className="text-ink-2">Permanently deletes emails to an address with their delivery history, email from it, and its events. A suppressed address stays suppressed.</p>
        <Field label="Address">{(p) => <input {...p} type="email" className="input max-w-[360px]" required value={email} onChange={(e) => setEmail(e.target.value)} />}</Field>
        <button type="submit" className="btn danger" disabled={!whom}>Erase</button>
        {erased && (
          <div role="status" className="text-ink-2">
            <p>All data about <b className="font-medium wrap-anywhere">{erased.email}</b> was erased:</p>
            <ul className="list-disc pl-5">{(Object.keys(names) as (keyof Erased)[]).map((k) => <li key={k}>{erased.of[k].toLocaleString('en')} {names[k]}</li>)}</ul>
          </div>
        )}
      </form>
      {asking && (
        <ConfirmDialog
          title={`Erase all data about ${whom}?`} label="Erase permanently" danger onClose={() => setAsking(false)}
          run={async () => {
            setErased(null)
            try {
              const { erased: of } = await watched(whom, () => unwrap(rest.DELETE('/contacts/{email}/data', { params: { path: { email: whom } } })), (gone, of) => setAt({ gone, of }))
              setErased({ email: whom, of })
            } finally {
              setAt(null)
            }
            setEmail('')
            await client.invalidateQueries()
          }}
        >
          <p>This cannot be undone, and can take a while. Unsent emails to the address are cancelled.</p>
          {at && (
            <p role="status" className="mt-3 flex items-center gap-3">
              <progress aria-label="Emails erased" className="h-1.5 w-40 accent-accent-fill" value={at.gone} max={at.of} />
              {at.gone.toLocaleString('en')} of {at.of < most ? '' : 'at least '}{at.of.toLocaleString('en')} emails erased
            </p>
          )}
        </ConfirmDialog>
      )}
    </Card>
  )
}
