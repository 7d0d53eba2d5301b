import { Check, CornerUpRight, OctagonAlert, TriangleAlert, type LucideIcon } from 'lucide-react'
import type { Tone } from '@/parts/Badge'

// lookOf returns the badge of an HTTP status.
export function lookOf(status: number): { tone: Tone; icon: LucideIcon } {
  if (status >= 500) return { tone: 'bad', icon: OctagonAlert }
  if (status >= 400) return { tone: 'warn', icon: TriangleAlert }
  return status >= 300 ? { tone: 'info', icon: CornerUpRight } : { tone: 'ok', icon: Check }
}
