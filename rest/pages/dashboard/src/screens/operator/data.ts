import { useQuery, useQueryClient } from '@tanstack/react-query'
import { query, usePages } from '@/api/graphql'
import { unwrap, rest } from '@/api/rest'
import type { components } from '@/api/rest.gen'
import { OperatorAccountDetail, OperatorAccounts, OperatorPayments, OperatorPlans, type OperatorAccountFilter, type OperatorAccountRowFragment, type OperatorAccountStatus } from './queries.gen'

export type Account = OperatorAccountRowFragment
type Schemas = components['schemas']
export type AccountChange = Schemas['UpdateAccountAsOperator']
export type PlanChange = Schemas['UpdatePlanAsOperator']


// A former operator gets no list.
const nothing = { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } }

export const statuses: { value: OperatorAccountStatus; name: string }[] = [{ value: 'ACTIVE', name: 'Active' }, { value: 'SUSPENDED', name: 'Suspended' }, { value: 'PAYMENT_DUE', name: 'Payment overdue' }]

export const useAccounts = (filter: OperatorAccountFilter) => usePages(OperatorAccounts, { first: 50, filter }, (d) => d.operator?.accounts ?? nothing)

// useAccount fetches an account; null if none has the id.
export const useAccount = (id: string) => useQuery({ queryKey: [OperatorAccountDetail.name, id], queryFn: ({ signal }) => query(OperatorAccountDetail, { id }, signal).then((d) => d.operator?.account ?? null) })

export const usePlans = () => useQuery({ queryKey: [OperatorPlans.name], queryFn: ({ signal }) => query(OperatorPlans, {}, signal).then((d) => d.operator?.plans ?? []) })

export const useBilling = (enabled: boolean) => useQuery({ queryKey: [OperatorPayments.name], enabled, queryFn: ({ signal }) => query(OperatorPayments, {}, signal).then((d) => d.operator?.billing ?? null) })

// useChanges writes a change and fetches the changed data again.
export function useChanges() {
  const queries = useQueryClient()
  const again = (...keys: string[]) => Promise.all(keys.map((key) => queries.invalidateQueries({ queryKey: [key] })))
  return {
    async account(id: string, body: AccountChange) {
      await unwrap(rest.PATCH('/operator/accounts/{id}', { params: { path: { id } }, body }))
      await again(OperatorAccountDetail.name, OperatorAccounts.name)
    },
    async plan(id: string, body: PlanChange) {
      await unwrap(rest.PATCH('/operator/plans/{id}', { params: { path: { id } }, body }))
      await again(OperatorPlans.name)
    },
  }
}

export const count = (n: number | null, none = 'unlimited') => (n === null ? none : n.toLocaleString())
