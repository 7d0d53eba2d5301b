import { CircleAlert, Info, TriangleAlert, type LucideIcon } from 'lucide-react'
import type { components } from '@/api/rest.gen'
import { Badge, type Tone } from '@/parts/Badge'
import { ForeignText } from '@/parts/ForeignText'

export type Finding = components['schemas']['Finding']

const severities: Record<Finding['severity'], { name: string; tone: Tone; icon: LucideIcon }> = {
  error: { name: 'Error', tone: 'bad', icon: CircleAlert },
  warning: { name: 'Warning', tone: 'warn', icon: TriangleAlert },
  info: { name: 'Info', tone: 'info', icon: Info },
}

// Findings lists the problems of a rendered email that spam filters and mail clients have with it.
export function Findings({ findings }: { findings: Finding[] }) {
  return (
    <div className="grid min-w-0 gap-2">
      <h2>Content check</h2>
      {findings.length === 0
        ? <p role="status" className="text-xs text-ink-3">No problems found. Links aren’t opened.</p>
        : (
          <ul className="grid min-w-0 divide-y divide-line rounded-card border border-line bg-surface">
            {findings.map((f) => <li key={`${f.code} ${f.part}`} className="grid min-w-0 gap-1 px-3 py-2"><FindingLine finding={f} /></li>)}
          </ul>
        )}
    </div>
  )
}

function FindingLine({ finding }: { finding: Finding }) {
  const { name, tone, icon } = severities[finding.severity]
  const more = finding.count - finding.places.length
  return (
    <>
      <p className="flex min-w-0 flex-wrap items-baseline gap-2"><Badge tone={tone} icon={icon}>{name}</Badge><span className="min-w-0 flex-1 wrap-anywhere">{finding.reason}</span></p>
      <p className="text-xs text-ink-2 wrap-anywhere">{finding.fix}</p>
      {finding.places.length > 0 && (
        <details className="min-w-0 text-xs text-ink-3">
          <summary>{finding.count === 1 ? '1 place' : `${finding.count} places`}</summary>
          <ul className="mt-1 grid gap-1">
            {finding.places.map((p, i) => <li key={i} className="wrap-anywhere"><code><ForeignText text={p.element} /></code></li>)}
            {more > 0 && <li>and {more} more</li>}
          </ul>
        </details>
      )}
    </>
  )
}
