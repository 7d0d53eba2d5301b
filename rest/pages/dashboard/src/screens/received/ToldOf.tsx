import { useGraphQL } from '@/api/graphql'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { SkeletonText } from '@/parts/Skeleton'
import { Told } from '../webhooks/Told'
import { ReceivedWebhooks } from './queries.gen'

// ToldOf is what webhook endpoints were told of a received email.
export function ToldOf({ id }: { id: string }) {
  const told = useGraphQL(ReceivedWebhooks, { id })
  if (told.error) return <ErrorAlert error={told.error} retry={() => void told.refetch()} />
  if (told.isPending) return <SkeletonText />
  return <Told list={told.data.receivedEmail?.webhookDeliveries ?? []} again={() => void told.refetch()} />
}
