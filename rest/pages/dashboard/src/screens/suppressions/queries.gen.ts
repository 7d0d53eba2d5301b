// Written by `npm run codegen`; do not edit.
import { gql } from '@/api/document'

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** The reason for a suppression. */
export type SuppressionReason =
  /** A receiving server refused the address, or retries ran out. */
  | 'BOUNCE'
  /** The address cannot receive mail: its domain does not exist or accepts no mail. */
  | 'FAILURE'
  /** The recipient marked a message as spam. */
  | 'COMPLAINT'
  /** The recipient unsubscribed from all mail. */
  | 'UNSUBSCRIBE'
  /** The address was added through the API. */
  | 'MANUAL';

export type SuppressionListQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  q?: string | null | undefined;
}>;


export type SuppressionListQuery = { suppressions: { nodes: Array<SuppressionRowFragment>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type SuppressionRowFragment = { id: string, email: string | null, reason: SuppressionReason, emailId: string | null, createdAt: string };

export type SuppressionDetailQueryVariables = Exact<{
  id: string;
}>;


export type SuppressionDetailQuery = { suppression: SuppressionRowFragment | null };

export type OptOutListQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  email?: string | null | undefined;
  category?: string | null | undefined;
}>;


export type OptOutListQuery = { categoryOptOuts: { nodes: Array<OptOutRowFragment>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type OptOutRowFragment = { id: string, email: string | null, category: string, categoryLabel: string, source: string, emailId: string | null, createdAt: string };

export const SuppressionList = gql<SuppressionListQuery, SuppressionListQueryVariables>('SuppressionList', '03f559bd762264d096745b0a28dea672991259acebe53c4519d505cfdd34d56d', import.meta.env.DEV ? "query SuppressionList($first: Int, $after: String, $q: String) {\n  suppressions(first: $first, after: $after, filter: {query: $q}) {\n    nodes {\n      ...SuppressionRow\n    }\n    pageInfo {\n      hasNextPage\n      endCursor\n    }\n  }\n}\n\nfragment SuppressionRow on Suppression {\n  id\n  email\n  reason\n  emailId\n  createdAt\n}" : undefined)
export const SuppressionDetail = gql<SuppressionDetailQuery, SuppressionDetailQueryVariables>('SuppressionDetail', 'a225b2e2a58b7ed8679abcc2e3388b17e5cc09c5567913c4d8299fc647dca6bc', import.meta.env.DEV ? "query SuppressionDetail($id: ID!) {\n  suppression(id: $id) {\n    ...SuppressionRow\n  }\n}\n\nfragment SuppressionRow on Suppression {\n  id\n  email\n  reason\n  emailId\n  createdAt\n}" : undefined)
export const OptOutList = gql<OptOutListQuery, OptOutListQueryVariables>('OptOutList', '28761051fe9a62ca7bc8a8fb50294a16707fa479c47823478d64859c3c9514c8', import.meta.env.DEV ? "query OptOutList($first: Int, $after: String, $email: String, $category: String) {\n  categoryOptOuts(\n    first: $first\n    after: $after\n    filter: {email: $email, category: $category}\n  ) {\n    nodes {\n      ...OptOutRow\n    }\n    pageInfo {\n      hasNextPage\n      endCursor\n    }\n  }\n}\n\nfragment OptOutRow on CategoryOptOut {\n  id\n  email\n  category\n  categoryLabel\n  source\n  emailId\n  createdAt\n}" : undefined)
