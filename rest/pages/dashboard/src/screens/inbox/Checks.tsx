import { Check, CircleX, TriangleAlert } from 'lucide-react'
import { useMemo } from 'react'
import { Badge } from '@/parts/Badge'
import { check, links, type Judged } from './check'

const looks = { bad: { icon: CircleX, word: 'Problem' }, warn: { icon: TriangleAlert, word: 'Warning' }, ok: { icon: Check, word: 'Passed' } } as const

// Checks lists how mail clients treat an email, and its links. Nothing is fetched.
export function Checks({ mail }: { mail: Judged }) {
  const found = useMemo(() => check(mail), [mail])
  const all = useMemo(() => links(mail.html), [mail.html])
  return (
    <div className="grid max-w-[880px] gap-6">
      <section aria-label="HTML check" className="grid gap-2">
        <h3 className="font-medium">HTML check</h3>
        {found.length === 0 && <p className="flex items-center gap-2 text-ink-2"><Badge tone="ok" icon={Check}>Passed</Badge>No known problems with email clients.</p>}
        <ul className="grid">
          {found.map((f) => (
            <li key={f.what} className="grid grid-cols-[80px_minmax(0,1fr)] items-start gap-2 border-b border-line-soft py-2 last:border-0">
              <span><Badge tone={f.tone} icon={looks[f.tone].icon}>{looks[f.tone].word}</Badge></span>
              <span className="min-w-0"><b className="block font-medium">{f.what}</b><span className="text-ink-2 wrap-anywhere">{f.why}</span></span>
            </li>
          ))}
        </ul>
      </section>
      <section aria-label="Link check" className="grid gap-2">
        <h3 className="font-medium">Link check</h3>
        {all.length === 0 && <p className="text-ink-2">No links.</p>}
        <ul className="grid">
          {all.map((l, i) => (
            // Links may occur twice.
            <li key={`${i} ${l.href}`} className="grid grid-cols-[80px_minmax(0,1fr)] items-start gap-2 border-b border-line-soft py-2 last:border-0">
              <span><Badge tone={l.wrong ? 'warn' : 'ok'} icon={l.wrong ? TriangleAlert : Check}>{l.wrong ? 'Warning' : 'Passed'}</Badge></span>
              <span className="min-w-0"><b className="block truncate font-medium">{l.text || '(no text)'}</b><code className="block text-ink-2 wrap-anywhere">{l.href || '(no address)'}</code>{l.wrong && <span className="text-warn">{l.wrong}</span>}</span>
            </li>
          ))}
        </ul>
        {all.length > 0 && <p className="text-xs text-ink-3">Links are checked by how they are written; none are opened.</p>}
      </section>
    </div>
  )
}
