import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { done, rest } from '@/api/rest'
import type { components } from '@/api/rest.gen'
import { Confirm } from '@/parts/Confirm'
import { Field } from '@/parts/Form'
import { Card } from '@/parts/Page'

type Erased = components['schemas']['ErasedAnswer']['erased']

const names: Record<keyof Erased, string> = { emails: 'emails to it', redacted: 'emails to several people, without the address now', received: 'emails received', events: 'events', suppressions: 'suppressions, which still count' }

// Erase deletes all that is stored of a person as a recipient, as they may ask for.
export function Erase() {
  const client = useQueryClient()
  const [email, setEmail] = useState('')
  const [asking, setAsking] = useState(false)
  const [erased, setErased] = useState<{ email: string; of: Erased } | null>(null)
  const whom = email.trim()
  return (
    <Card title="Erase a person's data">
      <form className="grid justify-items-start gap-3" onSubmit={(e) => { e.preventDefault(); if (whom) setAsking(true) }}>
        <p className="text-ink-2">Emails to an address, what became of them, mail from it and its events, at once and for good. A suppressed address stays suppressed.</p>
        <Field label="Address">{(p) => <input {...p} type="email" className="input max-w-[360px]" required value={email} onChange={(e) => setEmail(e.target.value)} />}</Field>
        <button type="submit" className="btn danger" disabled={!whom}>Erase</button>
        {erased && (
          <div role="status" className="text-ink-2">
            <p>What was stored of <b className="font-medium wrap-anywhere">{erased.email}</b> is erased:</p>
            <ul className="list-disc pl-5">{(Object.keys(names) as (keyof Erased)[]).map((k) => <li key={k}>{erased.of[k].toLocaleString()} {names[k]}</li>)}</ul>
          </div>
        )}
      </form>
      {asking && (
        <Confirm
          title={`Erase all of ${whom}?`} label="Erase for good" danger onClose={() => setAsking(false)}
          run={async () => {
            setErased(null)
            const { erased: of } = await done(rest.DELETE('/contacts/{email}/data', { params: { path: { email: whom } } }))
            setErased({ email: whom, of })
            setEmail('')
            await client.invalidateQueries()
          }}
        >
          It cannot be undone, and takes a while where there is much. Mail to it that is not sent yet is not sent any more.
        </Confirm>
      )}
    </Card>
  )
}
