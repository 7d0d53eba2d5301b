import { CircleArrowUp, CircleCheck, CircleDot, PencilLine } from 'lucide-react'
import { Badge } from '@/parts/Badge'
import type { TemplateStatus } from './templates.gen'

// StatusBadge shows whether sends can use a template.
export function StatusBadge({ status, version, pending, outdated }: { status: TemplateStatus; version: number | null; pending: boolean; outdated?: boolean }) {
  if (status === 'DRAFT') return <Badge icon={PencilLine}>Draft</Badge>
  if (pending) return <Badge tone="warn" icon={CircleDot}>v{version}, unpublished changes</Badge>
  if (outdated) return <Badge tone="warn" icon={CircleArrowUp}>v{version}, update available</Badge>
  return <Badge tone="ok" icon={CircleCheck}>Published v{version}</Badge>
}
