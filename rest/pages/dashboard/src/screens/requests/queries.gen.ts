// Written by `npm run codegen`; do not edit.
import { gql } from '@/api/document'

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Filters a list of requests. Omitted fields do not filter. */
export type ApiRequestFilter = {
  /** Matches requests with this method, such as `POST`. */
  method?: string | null | undefined;
  /** Matches requests whose path starts with this prefix, such as `/api/emails`. */
  path?: string | null | undefined;
  /** Matches responses with a status in this range. */
  status?: StatusRange | null | undefined;
  /** Matches requests made with this API key, prefix `key_`. */
  apiKeyId?: string | null | undefined;
  /** Matches requests made by this user, prefix `usr_`. */
  userId?: string | null | undefined;
  /** Matches requests with this ID. */
  requestId?: string | null | undefined;
  /** Matches requests that created or concern this email, prefix `msg_`. */
  emailId?: string | null | undefined;
  /** Matches requests whose response was sent in this time range. */
  createdAt?: DateTimeFilter | null | undefined;
};

/** A range of HTTP statuses. Both ends are optional. */
export type StatusRange = {
  /** Lowest status, inclusive. */
  gte?: number | null | undefined;
  /** Highest status, exclusive. */
  lt?: number | null | undefined;
};

/** A time range. Both ends are optional. */
export type DateTimeFilter = {
  /** Start of the range, inclusive. */
  gte?: string | null | undefined;
  /** End of the range, exclusive. */
  lt?: string | null | undefined;
};

export type RequestListQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  filter?: ApiRequestFilter | null | undefined;
}>;


export type RequestListQuery = { apiRequests: { nodes: Array<{ id: string, method: string, path: string, operation: string, status: number, durationMs: number, apiKeyId: string | null, userId: string | null, ip: string, requestBody: string | null, requestOctets: number, responseBody: string | null, responseOctets: number, createdAt: string, apiKey: { name: string } | null, email: { id: string, subject: string } | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export const RequestList = gql<RequestListQuery, RequestListQueryVariables>('RequestList', '5a8d40bc41d835e5410cf47c4274fc4d5e1df569e9786795e1baca0526c8d243', import.meta.env.DEV ? "query RequestList($first: Int, $after: String, $filter: APIRequestFilter) {\n  apiRequests(first: $first, after: $after, filter: $filter) {\n    nodes {\n      id\n      method\n      path\n      operation\n      status\n      durationMs\n      apiKeyId\n      apiKey {\n        name\n      }\n      userId\n      ip\n      requestBody\n      requestOctets\n      responseBody\n      responseOctets\n      email {\n        id\n        subject\n      }\n      createdAt\n    }\n    pageInfo {\n      hasNextPage\n      endCursor\n    }\n  }\n}" : undefined)
