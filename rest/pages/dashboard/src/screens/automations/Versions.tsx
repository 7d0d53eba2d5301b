import { useQuery } from '@tanstack/react-query'
import { GitCommitVertical, History } from 'lucide-react'
import { useState } from 'react'
import { unwrap, rest } from '@/api/rest'
import { Badge } from '@/parts/Badge'
import { CodeBlock } from '@/parts/CodeBlock'
import { EmptyState } from '@/parts/EmptyState'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { SkeletonText } from '@/parts/Skeleton'
import { Time } from '@/parts/Time'
import { ActivateDialog } from './Acts'
import type { Detail } from './definition'

// Versions lists the activated versions, each with its changes.
export function Versions({ automation: a, write, changed }: { automation: Detail; write: boolean; changed: () => Promise<unknown> }) {
  const [open, setOpen] = useState<number | null>(null)
  const [back, setBack] = useState<number | null>(null)
  if (a.versions.length === 0) return <EmptyState icon={History} title="Never activated">Activate the draft to create version 1.</EmptyState>
  return (
    <>
      <ul className="grid">
        {a.versions.map((v) => (
          <li key={v.number} className="border-b border-line-soft py-1.5">
            <div className="flex min-h-8 flex-wrap items-center gap-x-3 gap-y-1">
              <GitCommitVertical aria-hidden className="text-ink-3" /><b className="font-medium">Version {v.number}</b>
              {v.number === a.version && <Badge tone={a.status === 'ACTIVE' ? 'ok' : 'quiet'} icon={GitCommitVertical}>{a.status === 'ACTIVE' ? 'Active' : 'Last active'}</Badge>}
              <span className="min-w-0 flex-1 truncate text-xs text-ink-3">{v.activatedBy && <><bdi>{v.activatedBy}</bdi>, </>}<Time at={v.createdAt} /></span>
              <button type="button" className="btn sm" aria-expanded={open === v.number} onClick={() => setOpen(open === v.number ? null : v.number)}>{open === v.number ? 'Close' : 'View definition'}</button>
              {write && a.status !== 'ARCHIVED' && v.number !== a.version && <button type="button" className="btn sm" onClick={() => setBack(v.number)}><History aria-hidden />Restore</button>}
            </div>
            {open === v.number && <div className="grid gap-3 py-2"><Difference id={a.id} number={v.number} /><CodeBlock title="Definition" text={JSON.stringify(v.definition, null, 2)} /></div>}
          </li>
        ))}
      </ul>
      {back !== null && <ActivateDialog automation={a} version={back} dirty={false} problems={[]} changed={changed} onClose={() => setBack(null)} />}
    </>
  )
}

function Difference({ id, number }: { id: string; number: number }) {
  const read = useQuery({ queryKey: ['automation difference', id, number], queryFn: () => unwrap(rest.GET('/automations/{id}/versions/{number}/diff', { params: { path: { id, number } } })).then((a) => a.diff), staleTime: Infinity, enabled: number > 1 })
  if (number === 1) return null
  if (read.error) return <ErrorAlert error={read.error} retry={() => void read.refetch()} />
  if (!read.data) return <SkeletonText lines={2} />
  const { fields, steps, from } = read.data
  const said = (value: unknown) => (value === null || value === undefined ? 'nothing' : JSON.stringify(value))
  return (
    <div className="grid gap-1">
      <h3 className="text-xs text-ink-3">Changes since version {from}</h3>
      {fields.length + steps.length === 0 && <p className="text-ink-2">No changes.</p>}
      <ul className="grid gap-1">
        {fields.map((f) => <li key={f.path} className="wrap-anywhere"><code>{f.path}</code>: <span className="text-bad">{said(f.before)}</span> → <span className="text-ok">{said(f.after)}</span></li>)}
        {steps.map((s) => (
          <li key={s.key} className="wrap-anywhere">
            <code>{s.key}</code> {s.change}
            {s.fields.length > 0 && <ul className="pl-4">{s.fields.map((f) => <li key={f.path}><code>{f.path}</code>: <span className="text-bad">{said(f.before)}</span> → <span className="text-ok">{said(f.after)}</span></li>)}</ul>}
          </li>
        ))}
      </ul>
    </div>
  )
}
