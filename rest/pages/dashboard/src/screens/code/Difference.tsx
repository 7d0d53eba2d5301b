import { useMemo } from 'react'
import { blocks, difference } from './diff'

// Difference shows the changes of a text by lines.
export function Difference({ name, before, after }: { name: string; before: string; after: string }) {
  const all = useMemo(() => blocks(difference(before, after)), [before, after])
  if (all.length === 0) return null
  return (
    <section aria-label={`Changes to ${name}`} className="min-w-0">
      <h3 className="mb-1 font-medium">{name}</h3>
      <pre tabIndex={0} className="max-h-80 overflow-auto rounded-control border border-line bg-sunken py-1.5 font-mono text-xs">
        {all.map((b, i) => (
          <div key={i}>
            {b.skipped > 0 && <div className="px-3 text-ink-3">… {b.skipped} {b.skipped === 1 ? 'line' : 'lines'} unchanged</div>}
            {b.lines.map((l, j) => (
              <div key={j} className={`px-3 whitespace-pre-wrap wrap-anywhere ${l.kind === 'gone' ? 'bg-bad-soft text-bad' : l.kind === 'new' ? 'bg-ok-soft text-ok' : 'text-ink-2'}`}>
                <span className="select-none" aria-hidden>{l.kind === 'gone' ? '- ' : l.kind === 'new' ? '+ ' : '  '}</span>{l.kind !== 'same' && <span className="sr-only">{l.kind === 'gone' ? 'gone: ' : 'new: '}</span>}{l.text || ' '}
              </div>
            ))}
          </div>
        ))}
      </pre>
    </section>
  )
}
