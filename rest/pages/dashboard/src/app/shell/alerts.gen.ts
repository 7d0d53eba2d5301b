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

export type MarksQueryVariables = Exact<{ [key: string]: never; }>;


export type MarksQuery = { health: { findings: Array<{ level: HealthLevel, subjectId: string | null }> } };

export const Marks = gql<MarksQuery, MarksQueryVariables>('Marks', '7b51524ca0cc255918591867d1c96a4d6b7fd63432ded54ac4219f5eeef2e899', import.meta.env.DEV ? "query Marks {\n  health {\n    findings {\n      level\n      subjectId\n    }\n  }\n}" : undefined)
