import { Link } from '@tanstack/react-router'
import { Badge } from '@/parts/Badge'
import { CodeBlock } from '@/parts/CodeBlock'
import { CopyableId } from '@/parts/CopyButton'
import { Detail, DetailList } from '@/parts/Page'
import { Time } from '@/parts/Time'
import type { Row } from './data'
import { lookOf } from './look'

// pretty formats JSON on several lines; truncated JSON stays unchanged.
function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}

// Request shows the complete log entry of a request.
export function Request({ row, filterBy }: { row: Row; filterBy: (field: string, value: string) => void }) {
  return (
    <div className="grid gap-5 p-4 md:p-5">
      <DetailList>
        <Detail name="Status"><Badge {...lookOf(row.status)}>{row.status}</Badge></Detail>
        <Detail name="Operation"><code>{row.operation}</code></Detail>
        <Detail name="Time"><Time at={row.createdAt} exact /></Detail>
        <Detail name="Duration">{row.durationMs} ms</Detail>
        <Detail name="API key">{row.apiKeyId && <span className="flex flex-wrap items-center gap-2"><CopyableId id={row.apiKeyId} /><button type="button" className="link text-xs" onClick={() => filterBy('key', row.apiKeyId!)}>Filter by this key</button></span>}</Detail>
        <Detail name="User">{row.userId && <CopyableId id={row.userId} />}</Detail>
        <Detail name="From">{row.ip}</Detail>
        <Detail name="Email">{row.email && <Link to={`/emails/${row.email.id}` as never} className="link wrap-anywhere">{row.email.subject || row.email.id}</Link>}</Detail>
        <Detail name="Request ID"><CopyableId id={row.id} /></Detail>
      </DetailList>
      {row.requestBody ? <CodeBlock title={`Request, ${row.requestOctets} bytes`} text={pretty(row.requestBody)} wrap /> : <p className="text-ink-3">No request body.</p>}
      {row.responseBody ? <CodeBlock title={`Response, ${row.responseOctets} bytes`} text={pretty(row.responseBody)} wrap /> : <p className="text-ink-3">Response body not kept.</p>}
    </div>
  )
}
