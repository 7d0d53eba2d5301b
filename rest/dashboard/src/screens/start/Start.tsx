import { useViewer } from '@/app/viewer'
import { PageBody, PageHead } from '@/parts/Page'

export default function Start() {
  const viewer = useViewer()
  return (
    <>
      <PageHead title="Start" />
      <PageBody narrow><p>{viewer.user?.email}</p></PageBody>
    </>
  )
}
