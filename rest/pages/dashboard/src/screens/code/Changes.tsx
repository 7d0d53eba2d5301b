import type { ReactNode } from 'react'
import { SegmentedControl } from '@/parts/Tabs'

export type Side = 'mine' | 'theirs'

export interface Change {
  // path is the path of the changed field.
  path: string
  by: Side | 'both'
  base: unknown
  mine: unknown
  theirs: unknown
}

interface Props {
  changes: Change[]
  // the user who saved first, if known.
  by: string | null
  chosen: Record<string, Side>
  choose: (path: string, side: Side) => void
  nameOf: (path: string) => ReactNode
  said?: (value: unknown) => string
}

// Changes lists the changes of two users to one draft. The user resolves conflicts.
export function Changes({ changes, by, chosen, choose, nameOf, said = plain }: Props) {
  const of = (side: Change['by']) => changes.filter((c) => c.by === side)
  const groups: [string, Change[]][] = [['Changed by both', of('both')], [`${by ?? 'They'} changed`, of('theirs')], ['You changed', of('mine')]]
  return (
    <div className="grid gap-4">
      {groups.filter(([, list]) => list.length > 0).map(([title, list]) => (
        <section key={title} aria-label={title} className="grid gap-2">
          <h3 className="font-medium">{title}</h3>
          <ul className="grid gap-2">
            {list.map((c) => (
              <li key={c.path} className="min-w-0 rounded-control border border-line p-2.5">
                <div className="flex flex-wrap items-center gap-2"><span className="min-w-0 flex-1 wrap-anywhere">{nameOf(c.path)}</span>{c.by === 'both' && <SegmentedControl label={`Version to keep for ${c.path}`} value={chosen[c.path] ?? 'mine'} onChange={(side) => choose(c.path, side)} choices={[{ key: 'mine', name: 'Mine' }, { key: 'theirs', name: 'Theirs' }]} />}</div>
                <dl className="mt-1.5 grid grid-cols-[56px_minmax(0,1fr)] gap-x-2 gap-y-1 text-xs">
                  <Line name="Before" value={said(c.base)} />
                  {c.by !== 'theirs' && <Line name="Mine" value={said(c.mine)} counts={c.by === 'mine' || (chosen[c.path] ?? 'mine') === 'mine'} />}
                  {c.by !== 'mine' && <Line name="Theirs" value={said(c.theirs)} counts={c.by === 'theirs' || chosen[c.path] === 'theirs'} />}
                </dl>
              </li>
            ))}
          </ul>
        </section>
      ))}
      {changes.length === 0 && <p className="text-ink-2">The drafts are identical.</p>}
    </div>
  )
}

function Line({ name, value, counts }: { name: string; value: string; counts?: boolean }) {
  return <><dt className="text-ink-3">{name}</dt><dd tabIndex={value.length > 300 ? 0 : undefined} className={`max-h-24 min-w-0 overflow-auto whitespace-pre-wrap wrap-anywhere ${counts ? 'text-ink' : 'text-ink-2'} ${counts === false ? 'line-through' : ''}`}>{value}</dd></>
}

function plain(value: unknown): string {
  if (value === undefined || value === null || value === '') return 'nothing'
  if (typeof value === 'string') return value
  if (Array.isArray(value) && value.every((v) => typeof v === 'string')) return value.join(', ')
  return JSON.stringify(value)
}

export { plain }
