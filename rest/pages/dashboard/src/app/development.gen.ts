// Written by `npm run codegen`; do not edit.
import { gql } from '@/api/document'

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
export type DevelopmentSeedsQueryVariables = Exact<{ [key: string]: never; }>;


export type DevelopmentSeedsQuery = { viewer: { development: { apiKey: string, inboxUrl: string | null, inboundUrl: string | null, domain: string | null, failures: Array<string> } | null } };

export const DevelopmentSeeds = gql<DevelopmentSeedsQuery, DevelopmentSeedsQueryVariables>('DevelopmentSeeds', '537d17e080b81993ad66380974e5593b4918d5221ba9897d77ce7487cb7bab0d', import.meta.env.DEV ? "query DevelopmentSeeds {\n  viewer {\n    development {\n      apiKey\n      inboxUrl\n      inboundUrl\n      domain\n      failures\n    }\n  }\n}" : undefined)
