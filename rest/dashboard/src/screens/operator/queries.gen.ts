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

export const OperatorHealth = gql<OperatorHealthQuery, OperatorHealthQueryVariables>('OperatorHealth', '96a03b413371294df0fbb00db3ab89c2fbb0256df689545d958f4fd46b65a24a', import.meta.env.DEV ? "query OperatorHealth {\n  health {\n    installation {\n      code\n      level\n      found\n      expected\n      do\n    }\n  }\n}" : undefined)
