// Written by `npm run codegen`; do not edit.
import { gql } from '@/api/document'

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
export type DevelopmentSeedsQueryVariables = Exact<{ [key: string]: never; }>;


export type DevelopmentSeedsQuery = { viewer: { development: { apiKey: string, inboxUrl: string | null, domain: string | null, failures: Array<string> } | null } };

export const DevelopmentSeeds = gql<DevelopmentSeedsQuery, DevelopmentSeedsQueryVariables>('DevelopmentSeeds', '35eca9abc0e2ca9cf94b1ef28a088ac237a05aae42ad1fb92e2b6e1afb6a0514', import.meta.env.DEV ? "query DevelopmentSeeds {\n  viewer {\n    development {\n      apiKey\n      inboxUrl\n      domain\n      failures\n    }\n  }\n}" : undefined)
