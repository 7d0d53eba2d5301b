import { CircleCheck, CircleX, Info, RotateCw, TriangleAlert, type LucideIcon } from 'lucide-react'
import { useGraphQL } from '@/api/graphql'
import { Badge, type Tone } from '@/parts/Badge'
import { CopyButton } from '@/parts/CopyButton'
import { EmptyState } from '@/parts/EmptyState'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { PageBody } from '@/parts/Page'
import { SkeletonText } from '@/parts/Skeleton'
import { OperatorHealth, type HealthLevel } from './queries.gen'

const levels: Record<HealthLevel, [Tone, LucideIcon, string]> = { ERROR: ['bad', CircleX, 'Error'], WARNING: ['warn', TriangleAlert, 'Warning'], NOTICE: ['info', Info, 'Notice'] }

// Health shows the findings of postrider doctor.
export function Health() {
  const health = useGraphQL(OperatorHealth, {})
  const list = health.data?.health.installation ?? []
  return (
    <PageBody narrow>
      <div className="flex flex-wrap items-center gap-2"><p className="min-w-0 flex-1 text-ink-2">Findings of <code>postrider doctor</code> for this installation.</p><button type="button" className="btn" disabled={health.isFetching} onClick={() => void health.refetch()}><RotateCw aria-hidden />Check again</button></div>
      {health.error && <ErrorAlert error={health.error} retry={() => void health.refetch()} />}
      {health.isPending && <SkeletonText lines={6} />}
      {health.data && list.length === 0 && <EmptyState icon={CircleCheck} title="No problems">Nothing about this installation needs attention.</EmptyState>}
      <ul className="grid gap-3">
        {list.map((f, i) => {
          const [tone, icon, word] = levels[f.level]
          return (
            <li key={`${f.code} ${i}`} className="card grid gap-2 p-4">
              <p className="flex flex-wrap items-center gap-2"><Badge tone={tone} icon={icon}>{word}</Badge><code className="text-ink-3">{f.code}</code></p>
              <p className="font-medium wrap-anywhere">{f.found}</p>
              {f.expected && <div><p className="text-xs text-ink-3">Expected</p><p className="smtp ok">{f.expected}<CopyButton text={f.expected} label="Copy expected value" /></p></div>}
              {f.do && <p className="wrap-anywhere text-ink-2">{f.do}</p>}
            </li>
          )
        })}
      </ul>
    </PageBody>
  )
}
