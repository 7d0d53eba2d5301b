import { PageHead } from '@/parts/Page'
import { SkeletonRows } from '@/parts/Skeleton'

// PendingPage stands while a part of the app is loaded.
export function PendingPage() {
  return (
    <>
      <PageHead title="" />
      <SkeletonRows />
    </>
  )
}
