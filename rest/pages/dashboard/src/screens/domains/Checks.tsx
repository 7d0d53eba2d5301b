import { Check, History } from 'lucide-react'
import { useGraphQL } from '@/api/graphql'
import { EmptyState } from '@/parts/EmptyState'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { SkeletonText } from '@/parts/Skeleton'
import { TimelineEntry, Timeline } from '@/parts/Timeline'
import { domainLooks, lookOfRecord, purposeOf } from './look'
import { DomainChecks } from './queries.gen'

// Checks shows the history of DNS checks.
export function Checks({ id }: { id: string }) {
  const checks = useGraphQL(DomainChecks, { id })
  if (checks.error) return <ErrorAlert error={checks.error} retry={() => void checks.refetch()} />
  if (checks.isPending) return <SkeletonText />
  const list = checks.data.domain?.health ?? []
  if (list.length === 0) return <EmptyState icon={History} title="No checks yet">Select “Verify now” above. Checks that find a change, plus one per day, are kept for 90 days.</EmptyState>
  return (
    <Timeline>
      {list.map((c) => {
        const look = domainLooks[c.status]
        const wrong = c.records.filter((r) => r.status !== 'verified')
        return (
          <TimelineEntry
            key={c.checkedAt} icon={wrong.length ? look.icon : Check} tone={look.tone} title={look.word} at={c.checkedAt}
            subject={<span className="text-ink-2">{c.records.length - wrong.length} of {c.records.length} records found</span>}
            details={wrong.length > 0 && (
              <ul className="mt-1 grid gap-1">
                {wrong.map((r) => <li key={r.purpose + (r.selector ?? '')} className="wrap-anywhere"><b className="font-medium">{purposeOf(r.purpose).name}</b> {lookOfRecord(r.status, true).word.toLowerCase()}{r.error && <>: {r.error}</>}{r.found.length > 0 && <code className="block text-ink-3">{r.found.join(' · ')}</code>}</li>)}
              </ul>
            )}
          />
        )
      })}
    </Timeline>
  )
}
