// Written by `npm run codegen`; do not edit.
import { gql } from '@/api/document'

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
export type LiveEventsSubscriptionVariables = Exact<{
  after?: string | null | undefined;
}>;


export type LiveEventsSubscription = { events: { id: string, type: string, createdAt: string, data: unknown } };

export type LatestEventQueryVariables = Exact<{ [key: string]: never; }>;


export type LatestEventQuery = { events: { endCursor: string } };

export const LiveEvents = gql<LiveEventsSubscription, LiveEventsSubscriptionVariables>('LiveEvents', 'd0904cfab348f5f90964464598938fa0ad095b04f5ec616b1e268f9a18b2c3d8', import.meta.env.DEV ? "subscription LiveEvents($after: String) {\n  events(after: $after) {\n    id\n    type\n    createdAt\n    data\n  }\n}" : undefined)
export const LatestEvent = gql<LatestEventQuery, LatestEventQueryVariables>('LatestEvent', '5b052c64515c97b9ac25dcf461267ed71b0a40f8e2d9f42d1e4fedba8d879136', import.meta.env.DEV ? "query LatestEvent {\n  events(first: 1, after: \"latest\") {\n    endCursor\n  }\n}" : undefined)
