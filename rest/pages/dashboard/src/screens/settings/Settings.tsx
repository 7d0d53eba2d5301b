import { useGraphQL } from '@/api/graphql'
import { useViewer } from '@/app/viewer'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { PageBody, PageHead } from '@/parts/Page'
import { SkeletonText } from '@/parts/Skeleton'
import { Brand } from './Brand'
import { Erase } from './Erase'
import { Factor } from './Factor'
import { General } from './General'
import { AccountSettings } from './queries.gen'

export default function Settings() {
  const { can, has } = useViewer()
  const settings = useGraphQL(AccountSettings, {})
  return (
    <>
      <PageHead title="Settings" />
      <PageBody narrow>
        {settings.error && <ErrorAlert error={settings.error} retry={() => void settings.refetch()} />}
        {settings.data ? <General account={settings.data.account} /> : settings.isPending && <SkeletonText lines={6} />}
        {has('signin') && <Factor />}
        <Brand />
        {can('WRITE') && has('retention') && <Erase />}
      </PageBody>
    </>
  )
}
