import { KeyRound, Trash2 } from 'lucide-react'
import { useState, type FormEvent } from 'react'
import { now } from '@/api/clock'
import { unwrap, rest } from '@/api/rest'
import { useStore } from '@/api/store'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { CopyButton } from '@/parts/CopyButton'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { useWrite } from '@/parts/Form'
import { Time } from '@/parts/Time'
import { key } from './memory'

const hour = 3_600_000

// KeyBar holds the key that queries run with. It is in memory only.
export function KeyBar() {
  const viewer = useViewer()
  const held = useStore(key)
  const [text, setText] = useState('')
  const make = useWrite(async () => {
    const made = await unwrap(rest.POST('/api-keys', { body: { name: 'Playground', scope: 'read', expires_at: new Date(now() + hour).toISOString() } }))
    key.set({ secret: made.secret, id: made.api_key.id, ends: made.api_key.expires_at ?? undefined })
  })
  function take(e: FormEvent) {
    e.preventDefault()
    if (!text.trim()) return
    key.set({ secret: text.trim() })
    setText('')
  }
  async function forget() {
    const id = held?.id
    key.set(null)
    if (!id) return
    try {
      await unwrap(rest.DELETE('/api-keys/{id}', { params: { path: { id } } }))
      toast.success('Key revoked')
    } catch (error) {
      toast.error(error)
    }
  }
  return (
    <div className="flex-none border-b border-line px-4 py-2 md:px-6">
      {held ? (
        <p className="flex min-h-[34px] flex-wrap items-center gap-2">
          <KeyRound aria-hidden className="text-ok" />
          <span>{held.id ? 'Read-only key' : 'Your key'} <code className="text-ink-2">{held.secret.slice(0, 8)}…</code><CopyButton text={held.secret} label="Copy key" /></span>
          {held.ends && <span className="text-ink-3">expires <Time at={held.ends} /></span>}
          <button type="button" className="btn sm ml-auto" onClick={() => void forget()}><Trash2 aria-hidden />{held.id ? 'Revoke' : 'Forget'}</button>
        </p>
      ) : (
        <div className="flex flex-wrap items-center gap-2">
          {viewer.can('WRITE') && <button type="button" className="btn primary" disabled={make.busy} onClick={() => void make.run()}><KeyRound aria-hidden />Create a one-hour key</button>}
          <form onSubmit={take} className="flex min-w-0 flex-[1_1_240px] items-center gap-2">
            <input type="password" aria-label="API key" className="input max-w-[360px] min-w-0" autoComplete="off" spellCheck={false} placeholder={viewer.can('WRITE') ? 'or paste a key: svc_…' : 'Paste a key: svc_…'} value={text} onChange={(e) => setText(e.target.value)} />
            <button type="submit" className="btn" disabled={!text.trim()}>Use key</button>
          </form>
          <p className="w-full text-xs text-ink-3">Queries run with an API key, which is kept in memory only. Reloading the page forgets it.</p>
        </div>
      )}
      {make.error !== null && <div className="mt-2"><ErrorAlert error={make.error} retry={() => void make.run()} /></div>}
    </div>
  )
}
