import { useGraphQL } from '@/api/graphql'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { SkeletonText } from '@/parts/Skeleton'
import { Told } from '../webhooks/Told'
import { EmailWebhooks } from './queries.gen'

// ToldOf is what webhook endpoints were told of an email.
export function ToldOf({ id }: { id: string }) {
  const told = useGraphQL(EmailWebhooks, { id })
  if (told.error) return <ErrorAlert error={told.error} retry={() => void told.refetch()} />
  if (told.isPending) return <SkeletonText />
  return <Told list={told.data.email?.webhookDeliveries ?? []} again={() => void told.refetch()} />
}
