import { Link } from '@tanstack/react-router'
import { useGraphQL } from '@/api/graphql'
import { useSearchParams } from '@/app/searchParams'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Card } from '@/parts/Page'
import { SkeletonText } from '@/parts/Skeleton'
import { count } from './figures'
import { MailRefusals, type MailRefusalsQueryVariables } from './queries.gen'
import type { Choice } from './range'

// Reasons lists why mail was rejected, each with the newest reply as an example.
export function Reasons({ choice, variables }: { choice: Choice; variables: MailRefusalsQueryVariables }) {
  const [, change] = useSearchParams()
  const available = choice.only?.dimension !== 'TAG' && choice.only?.dimension !== 'RECIPIENT_DOMAIN'
  const list = useGraphQL(MailRefusals, variables, { keepPrevious: true, enabled: available })
  const rows = list.data?.topBounceReasons
  return (
    <Card title="Top bounce reasons" padded={false}>
      {!available ? <p className="p-4 text-ink-3">Reasons aren’t available by tag or recipient domain. <button type="button" className="link under" onClick={() => change({ only: undefined, called: undefined })}>Show all emails</button></p>
        : list.error && !rows ? <div className="p-4"><ErrorAlert error={list.error} retry={() => void list.refetch()} /></div>
          : !rows ? <div className="p-4"><SkeletonText /></div>
            : rows.length === 0 ? <p className="p-4 text-ink-3">No bounces in this range.</p>
              : (
                <ol>
                  {rows.map((r) => (
                    <li key={`${r.bounceClass} ${r.enhancedCode} ${r.host}`} className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-4 border-b border-line-soft px-4 py-3 last:border-0">
                      <p className="wrap-anywhere">
                        <button type="button" className="link font-medium" title="Filter by this class" onClick={() => change({ only: `BOUNCE_CLASS:${r.bounceClass}`, called: undefined }, true)}>{words(r.bounceClass)}</button>
                        {r.enhancedCode && <code className="ml-2 text-ink-2">{r.enhancedCode}</code>}
                        {r.host && <span className="ml-2 text-ink-3">{r.host}</span>}
                      </p>
                      <p className="text-right font-medium">{count(r.count)} <span className="font-normal text-ink-3">{r.count === 1 ? 'recipient' : 'recipients'}</span></p>
                      <div className="col-span-2 min-w-0">
                        {r.example.diagnostic && <p className="smtp bad">{r.example.diagnostic}</p>}
                        <p className="mt-1 text-xs text-ink-3">{r.example.email ? <Link to={`/emails/${r.example.emailId}` as never} className="link">View the newest of these emails</Link> : 'The newest of these emails has been deleted.'}</p>
                      </div>
                    </li>
                  ))}
                </ol>
              )}
    </Card>
  )
}

const words = (name: string) => (name ? name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ') : 'Unclassified')
