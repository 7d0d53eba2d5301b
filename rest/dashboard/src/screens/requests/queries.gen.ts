// Written by `npm run codegen`; do not edit.
import { gql } from '@/api/document'

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
export type RequestKeysQueryVariables = Exact<{ [key: string]: never; }>;


export type RequestKeysQuery = { apiKeys: { nodes: Array<{ id: string, name: string }> } };

export const RequestKeys = gql<RequestKeysQuery, RequestKeysQueryVariables>('RequestKeys', '32f2d69b1f3b068bea8ce5d5d3f2d2dba409d46267f6df31f5d76c7ea29c6300', import.meta.env.DEV ? "query RequestKeys {\n  apiKeys(first: 100) {\n    nodes {\n      id\n      name\n    }\n  }\n}" : undefined)
