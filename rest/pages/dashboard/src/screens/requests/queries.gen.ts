// Written by `npm run codegen`; do not edit.
import { gql } from '@/api/document'

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** What narrows a list of requests. Fields that are left out narrow nothing. */
export type ApiRequestFilter = {
  /** With this method, as `POST`. */
  method?: string | null | undefined;
  /** With a path that begins like this, as `/api/emails`. */
  path?: string | null | undefined;
  /** Answered with a status of this range. */
  status?: StatusRange | null | undefined;
  /** With this API key, prefix `key_`. */
  apiKeyId?: string | null | undefined;
  /** By this person, prefix `usr_`. */
  userId?: string | null | undefined;
  /** With this id. */
  requestId?: string | null | undefined;
  /** That made this email or are about it, prefix `msg_`. */
  emailId?: string | null | undefined;
  /** Answered in this stretch of time. */
  createdAt?: DateTimeFilter | null | undefined;
};

/** A range of HTTP statuses. Both ends may be left out. */
export type StatusRange = {
  /** This status or a higher one. */
  gte?: number | null | undefined;
  /** A lower status than this. */
  lt?: number | null | undefined;
};

/** A stretch of time. Both ends may be left out. */
export type DateTimeFilter = {
  /** At this time or later. */
  gte?: string | null | undefined;
  /** Before this time. */
  lt?: string | null | undefined;
};

export type RequestListQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  filter?: ApiRequestFilter | null | undefined;
}>;


export type RequestListQuery = { apiRequests: { nodes: Array<{ id: string, method: string, path: string, operation: string, status: number, durationMs: number, apiKeyId: string | null, userId: string | null, ip: string, requestBody: string | null, requestOctets: number, responseBody: string | null, responseOctets: number, createdAt: string, apiKey: { name: string } | null, email: { id: string, subject: string } | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export const RequestList = gql<RequestListQuery, RequestListQueryVariables>('RequestList', '5a8d40bc41d835e5410cf47c4274fc4d5e1df569e9786795e1baca0526c8d243', import.meta.env.DEV ? "query RequestList($first: Int, $after: String, $filter: APIRequestFilter) {\n  apiRequests(first: $first, after: $after, filter: $filter) {\n    nodes {\n      id\n      method\n      path\n      operation\n      status\n      durationMs\n      apiKeyId\n      apiKey {\n        name\n      }\n      userId\n      ip\n      requestBody\n      requestOctets\n      responseBody\n      responseOctets\n      email {\n        id\n        subject\n      }\n      createdAt\n    }\n    pageInfo {\n      hasNextPage\n      endCursor\n    }\n  }\n}" : undefined)
