// Written by `npm run codegen`; do not edit.
import { gql } from '@/api/document'

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** A type of object that can be searched. */
export type SearchType =
  /** Emails, searched by ID, Message-ID, address or part of one, or words in subject, names and tags. */
  | 'EMAIL'
  /** Received mail, searched by ID, address or words. */
  | 'RECEIVED_EMAIL'
  /** Sending domains, searched by ID or part of the name. */
  | 'DOMAIN'
  /** Templates, searched by ID, alias or part of the name. */
  | 'TEMPLATE'
  /** Automations, searched by ID or part of the name. */
  | 'AUTOMATION'
  /** Webhook endpoints, searched by ID or part of the URL. */
  | 'WEBHOOK'
  /** Suppressed addresses, searched by ID or part of the address. */
  | 'SUPPRESSION'
  /** API keys, searched by ID or part of the name. */
  | 'API_KEY'
  /** Automation runs, found by ID. */
  | 'AUTOMATION_RUN'
  /** Custom events, found by ID. */
  | 'CUSTOM_EVENT'
  /** Webhook deliveries, found by ID. `detail` is the ID of the endpoint. */
  | 'WEBHOOK_DELIVERY'
  /** Events, as in webhooks and the event log, found by ID. `detail` is the ID of the object, such as an email. */
  | 'EVENT';

export type PaletteSearchQueryVariables = Exact<{
  query: string;
}>;


export type PaletteSearchQuery = { search: Array<{ type: SearchType, id: string, title: string, detail: string, createdAt: string }> };

export const PaletteSearch = gql<PaletteSearchQuery, PaletteSearchQueryVariables>('PaletteSearch', '27b5f6e9f589db07579e39f3a8c12e68e498f16c722661f8d89e93541e2f87be', import.meta.env.DEV ? "query PaletteSearch($query: String!) {\n  search(query: $query, first: 5) {\n    type\n    id\n    title\n    detail\n    createdAt\n  }\n}" : undefined)
