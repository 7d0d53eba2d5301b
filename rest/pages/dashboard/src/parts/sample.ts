import { useGraphQL } from '@/api/graphql'
import { useViewer } from '@/app/viewer'
import { SampleSender } from './sample.gen'

// useSample returns a sender and a recipient of an email that the account can send now: from its own domain to the
// signed-in user or, until a domain is verified, from the sandbox domain to the address of the account. It is undefined
// while it loads.
export function useSample(): { from: string; to: string } | undefined {
  const viewer = useViewer()
  const enabled = viewer.has('domains') && viewer.can('READ') && viewer.can('READ_ACCOUNT')
  const { data, isLoading } = useGraphQL(SampleSender, {}, { enabled })
  if (isLoading) return undefined
  const account = data?.account
  const own = data?.domains.nodes[0]?.name
  return {
    from: `hello@${own ?? account?.sandboxDomain ?? 'your-domain.example'}`,
    to: (own && account?.productionUnlocked ? viewer.user?.email : account?.email) ?? viewer.user?.email ?? 'you@example.com',
  }
}
