import { Link } from '@tanstack/react-router'
import { CopyableId as Copyable } from '@/parts/CopyButton'
import { Detail, DetailList } from '@/parts/Page'
import { Time } from '@/parts/Time'
import type { AuditEntriesQuery } from './queries.gen'
import { pageOfId } from '@/app/ids'
import { changesOf, kinds, nameOfTarget } from './words'

export type Row = AuditEntriesQuery['auditLog']['nodes'][number]

// Id shrinks if there is not enough room.
const Id = ({ id }: { id: string }) => <span className="grid grid-cols-[minmax(0,max-content)]"><Copyable id={id} /></span>

// Entry shows one entry in full.
export function Entry({ row, filterBy }: { row: Row; filterBy: (field: string, value: string) => void }) {
  const page = pageOfId(row.target)
  const { name } = kinds[row.actor.kind]
  const changes = changesOf(row.changes)
  const target = nameOfTarget(row.changes)
  return (
    <div className="grid gap-5 p-4 md:p-5">
      <DetailList>
        <Detail name="Action"><code>{row.action}</code> <button type="button" className="link ml-2 text-xs" onClick={() => filterBy('action', row.action)}>Filter by this action</button></Detail>
        <Detail name="Time"><Time at={row.createdAt} exact /></Detail>
        <Detail name="Actor">{row.actor.name || name} <span className="text-ink-3">({name.toLowerCase()})</span>{row.actor.id && <button type="button" className="link ml-2 text-xs" onClick={() => filterBy('by', row.actor.id)}>Filter by this actor</button>}</Detail>
        <Detail name="Actor ID">{row.actor.id && <Id id={row.actor.id} />}</Detail>
        <Detail name="Target">{row.target && <span className="flex flex-wrap items-center gap-2">{target && <bdi className="font-medium">{target}</bdi>}<Id id={row.target} />{page && <Link to={page as never} className="link text-xs">Open</Link>}<button type="button" className="link text-xs" onClick={() => filterBy('on', row.target)}>Filter by this object</button></span>}</Detail>
        <Detail name="From">{row.ip}</Detail>
        <Detail name="User agent">{row.userAgent}</Detail>
        <Detail name="Request">{row.requestId && <Id id={row.requestId} />}</Detail>
        <Detail name="Entry ID"><Id id={row.id} /></Detail>
      </DetailList>
      {changes.length > 0 && (
        <section className="grid gap-2">
          <h2>Changes</h2>
          <DetailList>
            {changes.map((c) => (
              <Detail key={c.field} name={c.field.replaceAll('_', ' ')}>
                {c.before !== undefined && <><del className="text-ink-3"><bdi>{c.before}</bdi></del> <span aria-label="changed to" className="text-ink-3">→</span> </>}<bdi className="font-medium">{c.after}</bdi>
              </Detail>
            ))}
          </DetailList>
        </section>
      )}
    </div>
  )
}
