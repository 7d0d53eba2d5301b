import { useId, useState, type ReactNode } from 'react'
import { CircleAlert } from 'lucide-react'
import { Failed } from '@/api/failed'
import { CopyButton } from './Copy'

interface FieldProps {
  id: string
  'aria-invalid'?: boolean
  'aria-describedby'?: string
}

// Field is a label, an input made by `children`, a hint and what is wrong with it.
export function Field({ label, hint, wrong, children }: { label: ReactNode; hint?: ReactNode; wrong?: string; children: (props: FieldProps) => ReactNode }) {
  const id = useId()
  return (
    <div className="grid gap-1">
      <label htmlFor={id} className="font-medium">{label}</label>
      {children({ id, 'aria-invalid': wrong ? true : undefined, 'aria-describedby': wrong || hint ? `${id}-about` : undefined })}
      {(wrong || hint) && (
        <p id={`${id}-about`} className={`flex items-start gap-1 text-xs ${wrong ? 'text-bad' : 'text-ink-3'}`}>
          {wrong && <CircleAlert aria-hidden className="mt-px !size-3.5" />}{wrong ?? hint}
        </p>
      )}
    </div>
  )
}

// useWrite runs a write and keeps what came of it; `wrong` is by the field names of the request.
export function useWrite<Args extends unknown[], T>(write: (...args: Args) => Promise<T>) {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  async function run(...args: Args): Promise<T | undefined> {
    setBusy(true)
    setError(null)
    try {
      return await write(...args)
    } catch (e) {
      setError(e)
      return undefined
    } finally {
      setBusy(false)
    }
  }
  return { run, busy, error, wrong: error instanceof Failed ? error.fields : ({} as Record<string, string>), clear: () => setError(null) }
}

// SecretOnce shows what is never shown again.
export function SecretOnce({ secret, label }: { secret: string; label: string }) {
  return (
    <div className="grid gap-2">
      <p className="rounded-control bg-warn-soft px-3 py-2 text-warn">Copy it now: it is not shown again.</p>
      <div className="flex items-center gap-2 rounded-control border border-line-strong bg-sunken px-3 py-2">
        <code className="min-w-0 flex-1 wrap-anywhere select-all">{secret}</code>
        <CopyButton text={secret} label={`Copy ${label}`} word />
      </div>
    </div>
  )
}
