import { PageHead } from '@/parts/Page'
import { SkeletonRows } from '@/parts/Skeleton'

// PendingPage is shown while a screen is loading.
export function PendingPage() {
  return (
    <>
      <PageHead title="" />
      <SkeletonRows />
    </>
  )
}
