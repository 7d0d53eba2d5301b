import { useId, useState, type ReactNode } from 'react'
import { CircleAlert } from 'lucide-react'
import { ApiError } from '@/api/errors'
import { CopyButton } from './CopyButton'

interface FieldProps {
  id: string
  'aria-invalid'?: boolean
  'aria-describedby'?: string
}

// Field is a label, an input rendered by `children`, and a hint or an error.
export function Field({ label, hint, error, children }: { label: ReactNode; hint?: ReactNode; error?: string; children: (props: FieldProps) => ReactNode }) {
  const id = useId()
  return (
    <div className="grid gap-1">
      <label htmlFor={id} className="font-medium">{label}</label>
      {children({ id, 'aria-invalid': error ? true : undefined, 'aria-describedby': error || hint ? `${id}-description` : undefined })}
      {(error || hint) && (
        <p id={`${id}-description`} className={`flex items-start gap-1 text-xs ${error ? 'text-bad' : 'text-ink-3'}`}>
          {error && <CircleAlert aria-hidden className="mt-px !size-3.5" />}{error ?? hint}
        </p>
      )}
    </div>
  )
}

// useWrite runs a write and keeps its state. `fieldErrors` uses the field names of the request.
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
  return { run, busy, error, fieldErrors: error instanceof ApiError ? error.fields : ({} as Record<string, string>), clear: () => setError(null) }
}

// keepSecret is what dialogs with a OneTimeSecret say before Esc closes them.
export const keepSecret = 'You won’t see this again. Press Esc once more to close.'

// OneTimeSecret shows a new secret, which cannot be shown again.
export function OneTimeSecret({ secret, label }: { secret: string; label: string }) {
  return (
    <div className="grid gap-2">
      <p className="rounded-control bg-warn-soft px-3 py-2 text-warn">Copy this now. You won’t be able to see it again.</p>
      <div className="flex items-center gap-2 rounded-control border border-line-strong bg-sunken px-3 py-2">
        <code className="min-w-0 flex-1 wrap-anywhere select-all">{secret}</code>
        <CopyButton text={secret} label={`Copy ${label}`} word />
      </div>
    </div>
  )
}
