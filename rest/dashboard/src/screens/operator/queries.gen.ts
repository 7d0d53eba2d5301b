// Written by `npm run codegen`; do not edit.
import { gql } from '@/api/document'

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** How bad something is. */
export type HealthLevel =
  /** Mail is lost, refused or not accepted because of it. */
  | 'ERROR'
  /** It works, and something is at risk or will break. */
  | 'WARNING'
  /** A hint. */
  | 'NOTICE';

export type OperatorHealthQueryVariables = Exact<{ [key: string]: never; }>;


export type OperatorHealthQuery = { health: { installation: Array<{ code: string, level: HealthLevel, found: string, expected: string, do: string }> | null } };

export type OperatorDeliveryQueryVariables = Exact<{ [key: string]: never; }>;


export type OperatorDeliveryQuery = { operator: { queueByDestination: Array<{ destination: string, total: number, due: number, running: number, parked: number, deferred: number, held: number, oldestAgeSeconds: number, diagnostic: string | null }>, sources: Array<{ id: string, address: string, hostname: string, pool: string, accountId: string | null, pausedAt: string | null, warmup: { day: number, limit: number, used: number } | null }>, lanes: Array<{ name: string, provider: string | null, way: string | null, window: number, active: number, pausedUntil: string | null, reason: string | null, perMinute: number | null, delivered: number, refused: number, throttled: number, unreachable: number, usedAt: string }> } | null };

export type OperatorProcessesQueryVariables = Exact<{ [key: string]: never; }>;


export type OperatorProcessesQuery = { operator: { processes: Array<{ name: string, version: string, roles: Array<string>, startedAt: string, seenAt: string, alive: boolean }> } | null };

export const OperatorHealth = gql<OperatorHealthQuery, OperatorHealthQueryVariables>('OperatorHealth', '96a03b413371294df0fbb00db3ab89c2fbb0256df689545d958f4fd46b65a24a', import.meta.env.DEV ? "query OperatorHealth {\n  health {\n    installation {\n      code\n      level\n      found\n      expected\n      do\n    }\n  }\n}" : undefined)
export const OperatorDelivery = gql<OperatorDeliveryQuery, OperatorDeliveryQueryVariables>('OperatorDelivery', 'eb831161f52e017beefeb489fc95c8bc8970088c2d654fba99fe9dc1b5410632', import.meta.env.DEV ? "query OperatorDelivery {\n  operator {\n    queueByDestination {\n      destination\n      total\n      due\n      running\n      parked\n      deferred\n      held\n      oldestAgeSeconds\n      diagnostic\n    }\n    sources {\n      id\n      address\n      hostname\n      pool\n      accountId\n      pausedAt\n      warmup {\n        day\n        limit\n        used\n      }\n    }\n    lanes {\n      name\n      provider\n      way\n      window\n      active\n      pausedUntil\n      reason\n      perMinute\n      delivered\n      refused\n      throttled\n      unreachable\n      usedAt\n    }\n  }\n}" : undefined)
export const OperatorProcesses = gql<OperatorProcessesQuery, OperatorProcessesQueryVariables>('OperatorProcesses', '6af7de62fba581def58652ce7ce6360ead9fb8cf36cd96a8b73987054f8dc5cf', import.meta.env.DEV ? "query OperatorProcesses {\n  operator {\n    processes {\n      name\n      version\n      roles\n      startedAt\n      seenAt\n      alive\n    }\n  }\n}" : undefined)
