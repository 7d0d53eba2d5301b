import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { done, rest } from '@/api/rest'
import type { components } from '@/api/rest.gen'

// What an operator reads is REST: GraphQL answers for one account.
type Schemas = components['schemas']
export type Account = Schemas['OperatorAccountRecord']
export type Plan = Schemas['OperatorPlanRecord']
export type Billing = Schemas['OperatorBillingRecord']
export type AccountChange = Schemas['UpdateAccountAsOperator']
export type PlanChange = Schemas['UpdatePlanAsOperator']

export type Status = 'active' | 'suspended' | 'payment_due'
export const statuses: { value: Status; name: string }[] = [{ value: 'active', name: 'Active' }, { value: 'suspended', name: 'Suspended' }, { value: 'payment_due', name: 'Payment overdue' }]

export function useAccounts(filter: { q?: string; plan?: string; status?: Status }) {
  const pages = useInfiniteQuery({
    queryKey: ['operator-accounts', filter],
    queryFn: ({ pageParam, signal }) => done(rest.GET('/operator/accounts', { params: { query: { limit: 50, ...filter, ...(pageParam ? { cursor: pageParam } : {}) } }, signal })),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
  })
  return { ...pages, rows: pages.data?.pages.flatMap((p) => p.accounts) ?? [] }
}

export function useAccount(id: string) {
  return useQuery({ queryKey: ['operator-account', id], queryFn: ({ signal }) => done(rest.GET('/operator/accounts/{id}', { params: { path: { id } }, signal })) })
}

export function usePlans() {
  return useQuery({ queryKey: ['operator-plans'], queryFn: ({ signal }) => done(rest.GET('/operator/plans', { signal })).then((a) => [...a.plans].sort((x, y) => x.rank - y.rank)) })
}

export function useBilling(enabled: boolean) {
  return useQuery({ queryKey: ['operator-billing'], enabled, queryFn: ({ signal }) => done(rest.GET('/operator/billing', { signal })).then((a) => a.billing) })
}

// useChanges writes, and reads again what it changed.
export function useChanges() {
  const queries = useQueryClient()
  const again = (...keys: string[]) => Promise.all(keys.map((key) => queries.invalidateQueries({ queryKey: [key] })))
  return {
    async account(id: string, body: AccountChange) {
      await done(rest.PATCH('/operator/accounts/{id}', { params: { path: { id } }, body }))
      await again('operator-account', 'operator-accounts')
    },
    async plan(id: string, body: PlanChange) {
      await done(rest.PATCH('/operator/plans/{id}', { params: { path: { id } }, body }))
      await again('operator-plans')
    },
  }
}

export const count = (n: number | null, none = 'no cap') => (n === null ? none : n.toLocaleString())
