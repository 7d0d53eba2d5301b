import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { toast } from '@/app/toasts'

// copyText also works without a secure context, because many installations start on plain HTTP.
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'fixed -top-full'
  const host = document.querySelector('dialog[open]') ?? document.body
  host.append(area)
  area.select()
  const ok = document.execCommand('copy')
  area.remove()
  if (!ok) throw new Error('Your browser blocked copying. Select the text and copy it manually.')
}

// CopyButton copies text. `label` describes the text for screen readers.
export function CopyButton({ text, label = 'Copy', word, className = '' }: { text: string; label?: string; word?: boolean; className?: string }) {
  const [done, setDone] = useState(false)
  useEffect(() => {
    if (!done) return
    const timer = setTimeout(() => setDone(false), 1500)
    return () => clearTimeout(timer)
  }, [done])
  const Icon = done ? Check : Copy
  return (
    <button
      type="button" aria-label={word ? undefined : label} title={label}
      onClick={(e) => { e.stopPropagation(); copyText(text).then(() => setDone(true), toast.error) }}
      className={word ? `btn sm ${className}` : `inline-grid size-6 flex-none place-items-center rounded-control align-middle text-ink-3 hover:bg-hover hover:text-ink ${className}`}
    >
      <Icon aria-hidden className={`!size-3.5 ${done ? 'text-ok' : ''}`} />
      {word && (done ? 'Copied' : label)}
      {!word && <span role="status" className="sr-only">{done ? 'Copied' : ''}</span>}
    </button>
  )
}

// CopyableId shows a full id with a button to copy it.
export function CopyableId({ id }: { id: string }) {
  return <span className="inline-flex max-w-full min-w-0 items-center gap-0.5"><code className="truncate text-ink-2">{id}</code><CopyButton text={id} label="Copy ID" /></span>
}
