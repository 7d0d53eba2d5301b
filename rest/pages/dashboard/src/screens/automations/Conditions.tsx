import { Check, X } from 'lucide-react'

export interface Condition {
  text: string
  result: boolean
  error: string | null
  parts: { text: string; value: unknown; error: string | null }[]
}

// Conditions are expressions with the value of each of their parts.
export function Conditions({ list }: { list: Condition[] }) {
  return (
    <ul className="grid gap-2">
      {list.map((c, i) => (
        <li key={i} className="min-w-0 rounded-control border border-line bg-sunken px-3 py-2">
          <p className="flex items-start gap-2">
            {c.result ? <Check aria-hidden className="mt-0.5 text-ok" /> : <X aria-hidden className="mt-0.5 text-bad" />}
            <span className="min-w-0 flex-1"><code className="wrap-anywhere">{c.text}</code> <b className={c.result ? 'font-medium text-ok' : 'font-medium text-bad'}>{c.result ? 'is true' : 'is false'}</b></span>
          </p>
          {c.error && <p className="mt-1 text-xs text-bad wrap-anywhere">{c.error}</p>}
          {c.parts.length > 1 && (
            <dl className="mt-2 grid gap-1 border-t border-line pt-2 text-xs">
              {c.parts.slice(1).map((p, j) => (
                <div key={j} className="flex flex-wrap gap-x-2"><dt className="min-w-0 wrap-anywhere"><code>{p.text}</code></dt><dd className={`min-w-0 wrap-anywhere ${p.error ? 'text-bad' : 'text-ink-2'}`}>{p.error ?? JSON.stringify(p.value)}</dd></div>
              ))}
            </dl>
          )}
        </li>
      ))}
    </ul>
  )
}
