import { useGraph } from '@/api/graphql'
import { useViewer } from '@/app/viewer'
import { Failure } from '@/parts/Failure'
import { PageBody, PageHead } from '@/parts/Page'
import { SkeletonText } from '@/parts/Skeleton'
import { Brand } from './Brand'
import { Erase } from './Erase'
import { Factor } from './Factor'
import { General } from './General'
import { AccountSettings } from './queries.gen'

export default function Settings() {
  const { can, has } = useViewer()
  const settings = useGraph(AccountSettings, {})
  return (
    <>
      <PageHead title="Settings" />
      <PageBody narrow>
        {settings.error && <Failure error={settings.error} retry={() => void settings.refetch()} />}
        {settings.data ? <General account={settings.data.account} /> : settings.isPending && <SkeletonText lines={6} />}
        {has('signin') && <Factor />}
        <Brand />
        {can('WRITE') && has('retention') && <Erase />}
      </PageBody>
    </>
  )
}
