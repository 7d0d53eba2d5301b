import { useGraphQL } from '@/api/graphql'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { SkeletonText } from '@/parts/Skeleton'
import { DeliveryList } from '../webhooks/DeliveryList'
import { ReceivedWebhooks } from './queries.gen'

// WebhookDeliveries lists the webhook deliveries about a received email.
export function WebhookDeliveries({ id }: { id: string }) {
  const deliveries = useGraphQL(ReceivedWebhooks, { id })
  if (deliveries.error) return <ErrorAlert error={deliveries.error} retry={() => void deliveries.refetch()} />
  if (deliveries.isPending) return <SkeletonText />
  return <DeliveryList list={deliveries.data.receivedEmail?.webhookDeliveries ?? []} again={() => void deliveries.refetch()} />
}
