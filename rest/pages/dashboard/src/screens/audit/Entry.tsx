import { Link } from '@tanstack/react-router'
import { CodeBlock } from '@/parts/CodeBlock'
import { CopyableId as Copyable } from '@/parts/CopyButton'
import { Detail, DetailList } from '@/parts/Page'
import { Time } from '@/parts/Time'
import type { AuditEntriesQuery } from './queries.gen'
import { kinds, pageOf } from './words'

export type Row = AuditEntriesQuery['auditLog']['nodes'][number]

// Id shrinks if there is not enough room.
const Id = ({ id }: { id: string }) => <span className="grid grid-cols-[minmax(0,max-content)]"><Copyable id={id} /></span>

// Entry shows one entry in full.
export function Entry({ row, filterBy }: { row: Row; filterBy: (field: string, value: string) => void }) {
  const page = pageOf(row.target)
  const { name } = kinds[row.actor.kind]
  const changed = row.changes !== null && typeof row.changes === 'object' && Object.keys(row.changes).length > 0
  return (
    <div className="grid gap-5 p-4 md:p-5">
      <DetailList>
        <Detail name="Action"><code>{row.action}</code> <button type="button" className="link ml-2 text-xs" onClick={() => filterBy('action', row.action)}>Filter by this action</button></Detail>
        <Detail name="Time"><Time at={row.createdAt} exact /></Detail>
        <Detail name="Actor">{row.actor.name || name} <span className="text-ink-3">({name.toLowerCase()})</span>{row.actor.id && <button type="button" className="link ml-2 text-xs" onClick={() => filterBy('by', row.actor.id)}>Filter by this actor</button>}</Detail>
        <Detail name="Actor ID">{row.actor.id && <Id id={row.actor.id} />}</Detail>
        <Detail name="Target">{row.target && <span className="flex flex-wrap items-center gap-2"><Id id={row.target} />{page && <Link to={page as never} className="link text-xs">Open</Link>}</span>}</Detail>
        <Detail name="From">{row.ip}</Detail>
        <Detail name="User agent">{row.userAgent}</Detail>
        <Detail name="Request">{row.requestId && <Id id={row.requestId} />}</Detail>
        <Detail name="Entry ID"><Id id={row.id} /></Detail>
      </DetailList>
      {changed && <CodeBlock title="Changes" text={JSON.stringify(row.changes, null, 2)} wrap />}
    </div>
  )
}
