// Written by `npm run codegen`; do not edit.
import { gql } from '@/api/document'

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** The severity of a finding. */
export type HealthLevel =
  /** The problem causes mail to be lost, refused or not accepted. */
  | 'ERROR'
  /** Everything works, but something is at risk or will break. */
  | 'WARNING'
  /** A hint. */
  | 'NOTICE';

/** Filters a list of accounts. Omitted fields do not filter. */
export type OperatorAccountFilter = {
  /** Part of the email or name, case-insensitive, or a full ID. */
  query?: string | null | undefined;
  /** Matches accounts on this plan, such as `pro`. */
  plan?: string | null | undefined;
  /** Matches this status. */
  status?: OperatorAccountStatus | null | undefined;
};

/** The status of an account. */
export type OperatorAccountStatus =
  /** The account can send. */
  | 'ACTIVE'
  /** The account can do everything except send. */
  | 'SUSPENDED'
  /** A payment is overdue. */
  | 'PAYMENT_DUE';

/** What ended delivery attempts without a known result. */
export type DeliveryFaultKind =
  /** A process was killed or frozen, or lost its connection to the database. Other processes took over its deliveries. */
  | 'PROCESS'
  /** Connections to receiving servers broke after the message, before the reply. */
  | 'CONNECTION';

export type OperatorHealthQueryVariables = Exact<{ [key: string]: never; }>;


export type OperatorHealthQuery = { health: { installation: Array<{ code: string, level: HealthLevel, found: string, expected: string, do: string }> | null } };

export type OperatorDeliveryQueryVariables = Exact<{ [key: string]: never; }>;


export type OperatorDeliveryQuery = { operator: { queueByDestination: Array<{ destination: string, total: number, due: number, running: number, parked: number, deferred: number, held: number, oldestAgeSeconds: number, diagnostic: string | null }>, sources: Array<{ id: string, address: string, hostname: string, node: string | null, pool: string, accountId: string | null, pausedAt: string | null, warmup: { day: number, limit: number, used: number } | null }>, lanes: Array<{ name: string, provider: string | null, way: string | null, window: number, active: number, pausedUntil: string | null, reason: string | null, perMinute: number | null, delivered: number, refused: number, throttled: number, unreachable: number, usedAt: string }> } | null };

export type OperatorProcessesQueryVariables = Exact<{ [key: string]: never; }>;


export type OperatorProcessesQuery = { operator: { processes: Array<{ name: string, version: string, roles: Array<string>, startedAt: string, seenAt: string, alive: boolean }>, faults: Array<{ kind: DeliveryFaultKind, node: string | null, at: string, inDoubt: number }> } | null };

export type OperatorAccountsQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  filter?: OperatorAccountFilter | null | undefined;
}>;


export type OperatorAccountsQuery = { operator: { accounts: { nodes: Array<OperatorAccountRowFragment>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null };

export type OperatorAccountRowFragment = { id: string, name: string, email: string, planId: string, productionUnlocked: boolean, paymentMethodAt: string | null, paymentDueAt: string | null, suspendedAt: string | null, unmetered: boolean, monthlyLimit: number | null, createdAt: string };

export type OperatorAccountDetailQueryVariables = Exact<{
  id: string;
}>;


export type OperatorAccountDetailQuery = { operator: { account: { account: OperatorAccountRowFragment, usage: { day: number | null, month: number | null, dailyCap: number | null, monthlyCap: number | null, storedBytes: number | null, storedBytesCap: number | null, dailyBytes: number | null, dailyBytesCap: number | null } } | null } | null };

export type OperatorPlansQueryVariables = Exact<{ [key: string]: never; }>;


export type OperatorPlansQuery = { operator: { plans: Array<OperatorPlanRowFragment> } | null };

export type OperatorPaymentsQueryVariables = Exact<{ [key: string]: never; }>;


export type OperatorPaymentsQuery = { operator: { billing: { enabled: boolean, mode: string | null, customers: number, due: number, failing: number, pastDue: number, lastEventAt: string | null, unreportedHours: number, oldestUnreportedSeconds: number, stuck: Array<{ accountId: string, hour: string, emails: number, reason: string }>, problems: Array<{ accountId: string, what: string }> } } | null };

export type OperatorPlanRowFragment = { id: string, name: string, rank: number, selfService: boolean, requestsPerSecond: number, dailyEmails: number | null, monthlyEmails: number | null, dailySMS: number | null, includedEmails: number | null, overage: boolean, maxDomains: number, sandboxed: boolean };

export const OperatorHealth = gql<OperatorHealthQuery, OperatorHealthQueryVariables>('OperatorHealth', '96a03b413371294df0fbb00db3ab89c2fbb0256df689545d958f4fd46b65a24a', import.meta.env.DEV ? "query OperatorHealth {\n  health {\n    installation {\n      code\n      level\n      found\n      expected\n      do\n    }\n  }\n}" : undefined)
export const OperatorDelivery = gql<OperatorDeliveryQuery, OperatorDeliveryQueryVariables>('OperatorDelivery', '84724cdd08a96360715d0e21b93996894827fea7471272239d5fe81c13ba4e6e', import.meta.env.DEV ? "query OperatorDelivery {\n  operator {\n    queueByDestination {\n      destination\n      total\n      due\n      running\n      parked\n      deferred\n      held\n      oldestAgeSeconds\n      diagnostic\n    }\n    sources {\n      id\n      address\n      hostname\n      node\n      pool\n      accountId\n      pausedAt\n      warmup {\n        day\n        limit\n        used\n      }\n    }\n    lanes {\n      name\n      provider\n      way\n      window\n      active\n      pausedUntil\n      reason\n      perMinute\n      delivered\n      refused\n      throttled\n      unreachable\n      usedAt\n    }\n  }\n}" : undefined)
export const OperatorProcesses = gql<OperatorProcessesQuery, OperatorProcessesQueryVariables>('OperatorProcesses', '73db75b2ec7f0942943c80e280e1678bc2c6a5a20d9762f76612610c4d604a09', import.meta.env.DEV ? "query OperatorProcesses {\n  operator {\n    processes {\n      name\n      version\n      roles\n      startedAt\n      seenAt\n      alive\n    }\n    faults {\n      kind\n      node\n      at\n      inDoubt\n    }\n  }\n}" : undefined)
export const OperatorAccounts = gql<OperatorAccountsQuery, OperatorAccountsQueryVariables>('OperatorAccounts', 'd18340477a61747a051689c2db2f580c6c2486468db060ba044956807fcdac13', import.meta.env.DEV ? "query OperatorAccounts($first: Int, $after: String, $filter: OperatorAccountFilter) {\n  operator {\n    accounts(first: $first, after: $after, filter: $filter) {\n      nodes {\n        ...OperatorAccountRow\n      }\n      pageInfo {\n        hasNextPage\n        endCursor\n      }\n    }\n  }\n}\n\nfragment OperatorAccountRow on OperatorAccount {\n  id\n  name\n  email\n  planId\n  productionUnlocked\n  paymentMethodAt\n  paymentDueAt\n  suspendedAt\n  unmetered\n  monthlyLimit\n  createdAt\n}" : undefined)
export const OperatorAccountDetail = gql<OperatorAccountDetailQuery, OperatorAccountDetailQueryVariables>('OperatorAccountDetail', 'c1830a82e82cbc47d40410581bd9939dd7bd4d57ed59939f261d3a5dee7ae3df', import.meta.env.DEV ? "query OperatorAccountDetail($id: ID!) {\n  operator {\n    account(id: $id) {\n      account {\n        ...OperatorAccountRow\n      }\n      usage {\n        day\n        month\n        dailyCap\n        monthlyCap\n        storedBytes\n        storedBytesCap\n        dailyBytes\n        dailyBytesCap\n      }\n    }\n  }\n}\n\nfragment OperatorAccountRow on OperatorAccount {\n  id\n  name\n  email\n  planId\n  productionUnlocked\n  paymentMethodAt\n  paymentDueAt\n  suspendedAt\n  unmetered\n  monthlyLimit\n  createdAt\n}" : undefined)
export const OperatorPlans = gql<OperatorPlansQuery, OperatorPlansQueryVariables>('OperatorPlans', '47910c48301a4bb173592cf1922b8da56cf301332446f552a65c8c4738719ab6', import.meta.env.DEV ? "query OperatorPlans {\n  operator {\n    plans {\n      ...OperatorPlanRow\n    }\n  }\n}\n\nfragment OperatorPlanRow on OperatorPlan {\n  id\n  name\n  rank\n  selfService\n  requestsPerSecond\n  dailyEmails\n  monthlyEmails\n  dailySMS\n  includedEmails\n  overage\n  maxDomains\n  sandboxed\n}" : undefined)
export const OperatorPayments = gql<OperatorPaymentsQuery, OperatorPaymentsQueryVariables>('OperatorPayments', 'd13690be4b292fb6316e058e5884dc8fce8fddef6af8154ac26531be6ca39f58', import.meta.env.DEV ? "query OperatorPayments {\n  operator {\n    billing {\n      enabled\n      mode\n      customers\n      due\n      failing\n      pastDue\n      lastEventAt\n      unreportedHours\n      oldestUnreportedSeconds\n      stuck {\n        accountId\n        hour\n        emails\n        reason\n      }\n      problems {\n        accountId\n        what\n      }\n    }\n  }\n}" : undefined)
