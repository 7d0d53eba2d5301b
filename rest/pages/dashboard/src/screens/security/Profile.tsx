import { ErrorAlert } from '@/parts/ErrorAlert'
import { PageBody, PageHead } from '@/parts/Page'
import { SkeletonText } from '@/parts/Skeleton'
import { Alerts } from './Alerts'
import { Authenticator } from './Authenticator'
import { useMe } from './me'
import { Passkeys } from './Passkeys'
import { Password } from './Password'
import { Sessions } from './Sessions'
import { Who } from './Who'

export default function Profile() {
  const me = useMe()
  return (
    <>
      <PageHead title="Your profile" />
      <PageBody narrow>
        {me.error && <ErrorAlert error={me.error} retry={() => void me.refetch()} />}
        {me.data ? (
          <>
            <Who name={me.data.name} email={me.data.email} />
            {me.data.alerts && <Alerts on={me.data.alerts} email={me.data.email} />}
            <Password has={me.data.password} email={me.data.email} />
            <Authenticator on={me.data.second_factor} />
            <Passkeys />
            <Sessions />
          </>
        ) : me.isPending && <SkeletonText lines={8} />}
      </PageBody>
    </>
  )
}
