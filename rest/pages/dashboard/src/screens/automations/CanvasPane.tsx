import { lazy, Suspense } from 'react'
import { SkeletonText } from '@/parts/Skeleton'

const Canvas = lazy(() => import('./canvas/Canvas'))

// CanvasPane is the canvas, which is loaded when it is first shown.
export function CanvasPane({ label = 'Automation canvas', whole }: { label?: string; whole?: boolean }) {
  return <Suspense fallback={<div className="p-6"><SkeletonText lines={4} /></div>}><Canvas label={label} whole={whole} /></Suspense>
}
