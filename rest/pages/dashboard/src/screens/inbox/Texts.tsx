import { MessageSquare } from 'lucide-react'
import { useSearchParams } from '@/app/searchParams'
import { EmptyState } from '@/parts/EmptyState'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { SkeletonRows } from '@/parts/Skeleton'
import { Time } from '@/parts/Time'
import { useTexts } from './caught'
import { Filter } from './Mails'

// Texts lists the captured text messages.
export function Texts({ base }: { base: string }) {
  const [address, change] = useSearchParams()
  const to = address.to ?? ''
  const texts = useTexts(base, to)
  const list = texts.data?.texts ?? []
  return (
    <>
      <Filter to={to} go={(value) => change({ to: value })} />
      <div className="min-h-0 flex-1 overflow-auto" tabIndex={-1}>
        {texts.error && <div className="p-4 md:px-6"><ErrorAlert error={texts.error} retry={() => void texts.refetch()} /></div>}
        {texts.isPending && <SkeletonRows />}
        {texts.data && list.length === 0 && <EmptyState icon={MessageSquare} title={to ? 'No text messages to this number' : 'No text messages yet'} action={to ? <button type="button" className="btn" onClick={() => change({ to: undefined })}>Show all</button> : undefined}>{!to && 'Text messages sent by automations appear here.'}</EmptyState>}
        <ul className="mx-auto grid max-w-[720px] gap-3 p-4 md:p-6">
          {list.map((m) => (
            <li key={m.id} className="card grid gap-2 p-4">
              <p className="flex flex-wrap gap-x-3 text-xs text-ink-3"><span>to <b className="font-medium text-ink">{m.to}</b></span><span>from {m.from}</span><span className="ml-auto"><Time at={m.received_at} /></span></p>
              <p className="whitespace-pre-wrap wrap-anywhere">{m.text}</p>
              <p className="text-xs text-ink-3">{m.encoding} · {m.segments === 1 ? '1 segment' : `${m.segments} segments`}</p>
            </li>
          ))}
        </ul>
      </div>
    </>
  )
}
