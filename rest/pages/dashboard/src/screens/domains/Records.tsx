import { Download, Upload } from 'lucide-react'
import { testMode } from '@/api/mode'
import { toast } from '@/app/toasts'
import { Badge } from '@/parts/Badge'
import { CopyButton } from '@/parts/CopyButton'
import { Card } from '@/parts/Page'
import { Time } from '@/parts/Time'
import { lookOfRecord, purposeOf, relativeName } from './look'
import type { Domain } from './Page'
import type { DomainDnsRecordFragment } from './queries.gen'
import { saveZoneFile, useProvider } from './zone'

const cell = 'block px-4 align-top md:table-cell md:py-3 md:pr-0 md:last:pr-4'

// Records has a row for each DNS record, with the expected and the published value.
export function Records({ domain, publish }: { domain: Domain; publish?: () => void }) {
  const provider = useProvider(domain.id)
  const found = provider.data?.zone
  const zone = found && (domain.name === found || domain.name.endsWith(`.${found}`)) ? found : domain.name
  const acts = (
    <>
      {!testMode && <button type="button" className="btn sm" onClick={() => void saveZoneFile(domain).catch(toast.error)}><Download aria-hidden />Zone file</button>}
      {publish && <button type="button" className="btn sm" onClick={publish}><Upload aria-hidden />Publish to DNS provider</button>}
    </>
  )
  return (
    <Card title="DNS records" actions={acts} padded={false} footer={<span className="py-1.5">Names are relative to the zone <code className="text-ink-2">{zone}</code>{provider.data?.name ? `, hosted by ${provider.data.name}` : ''}. Use the full name if your provider asks for it.</span>}>
      <table role="table" aria-label="DNS records" className="block w-full border-collapse text-left md:table md:table-fixed">
        <thead role="rowgroup" className="sr-only md:not-sr-only md:table-header-group">
          <tr role="row" className="h-8 border-b border-line text-xs text-ink-3">
            <th role="columnheader" scope="col" className="w-[19%] px-4 font-medium">Record</th>
            <th role="columnheader" scope="col" className="w-[25%] px-4 font-medium">Name</th>
            <th role="columnheader" scope="col" className="px-4 font-medium">Value</th>
            <th role="columnheader" scope="col" className="w-[128px] px-4 font-medium">Status</th>
          </tr>
        </thead>
        <tbody role="rowgroup" className="block md:table-row-group">
          {domain.records.map((r) => <Row key={`${r.purpose} ${r.name}`} record={r} zone={zone} checkedAt={domain.lastCheckedAt} />)}
        </tbody>
      </table>
    </Card>
  )
}

function Row({ record: r, zone, checkedAt }: { record: DomainDnsRecordFragment; zone: string; checkedAt: string | null }) {
  const look = lookOfRecord(r.status, checkedAt !== null)
  const { name, why } = purposeOf(r.purpose)
  const short = relativeName(r.name, zone)
  return (
    <tr role="row" className="grid gap-2 border-b border-line-soft py-3 last:border-0 md:table-row">
      <td role="cell" className={cell}>
        <p className="flex flex-wrap items-center gap-1.5"><span className="font-medium">{name}</span><span className="chip font-mono">{r.type}</span>{!r.required && <span className="text-xs text-ink-3">optional</span>}</p>
        <p className="mt-1 text-xs text-ink-3">{why}</p>
      </td>
      <td role="cell" className={cell}>
        <Value text={short} label={`Copy relative name of ${name}`} />
        <Value text={r.name} label={`Copy full name of ${name}`} small />
        <p className="text-xs text-ink-3">TTL {r.ttl}{r.priority !== null && <>, priority <b className="font-medium text-ink-2">{r.priority}</b></>}</p>
      </td>
      <td role="cell" className={cell}>
        <Value text={r.value} label={`Copy value of ${name}`} />
        {r.status !== 'verified' && r.found.length > 0 && (
          <div className="mt-2">
            <p className="text-xs text-ink-3">Found:</p>
            {r.found.map((f) => <p key={f} className={`smtp ${r.status === 'mismatch' ? 'bad' : ''}`}>{f}</p>)}
          </div>
        )}
        {r.status === 'missing' && checkedAt && r.found.length === 0 && <p className="mt-1 text-xs text-ink-3">No record found.</p>}
        {r.error && checkedAt && <p className={`mt-1.5 wrap-anywhere ${r.status === 'mismatch' ? 'text-bad' : 'text-ink-2'}`}>{r.error}</p>}
      </td>
      <td role="cell" className={`${cell} max-md:order-first`}>
        <Badge tone={look.tone} icon={look.icon}>{look.word}</Badge>
        <p className="mt-1 text-xs text-ink-3 max-md:ml-2 max-md:inline">{checkedAt ? <>Checked <Time at={checkedAt} /></> : r.status === 'verified' ? 'Preset' : 'Never checked'}</p>
      </td>
    </tr>
  )
}

function Value({ text, label, small }: { text: string; label: string; small?: boolean }) {
  return (
    <div className="flex min-w-0 items-start gap-0.5">
      <code className={`min-w-0 wrap-anywhere ${small ? 'pt-1 text-xs text-ink-3' : 'pt-0.5'}`}>{text}</code>
      <CopyButton text={text} label={label} />
    </div>
  )
}
