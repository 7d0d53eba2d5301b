// Written by `npm run codegen`; do not edit.
import { gql } from '@/api/document'

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** A time range. Both ends are optional. */
export type DateTimeFilter = {
  /** Start of the range, inclusive. */
  gte?: string | null | undefined;
  /** End of the range, exclusive. */
  lt?: string | null | undefined;
};

/** A time range. */
export type TimeRange = {
  /** Start of the range, inclusive. */
  gte: string;
  /** End of the range, exclusive. */
  lt: string;
};

/** The length of a period in a time zone. */
export type StatisticsInterval =
  /** One hour, from one full hour of local time to the next. It is longer or shorter if the local time changes by half an hour. */
  | 'HOUR'
  /** One day. */
  | 'DAY'
  /** One week, starting on Monday. */
  | 'WEEK'
  /** One month. */
  | 'MONTH';

/** Filters a list of deliveries. Omitted fields do not filter. */
export type WebhookDeliveryFilter = {
  /** Matches this state. */
  state?: WebhookDeliveryState | null | undefined;
  /** Matches deliveries of this event type, such as `email.bounced`. */
  event?: string | null | undefined;
  /** Matches deliveries of events that happened in this time range. */
  createdAt?: DateTimeFilter | null | undefined;
};

/** The state of a delivery. */
export type WebhookDeliveryState =
  /** An attempt is due or in progress. */
  | 'PENDING'
  /** The endpoint answered 2xx. */
  | 'DELIVERED'
  /** All attempts failed, or no attempt could succeed. */
  | 'FAILED';

/** How a delivery attempt ended. */
export type WebhookAttemptOutcome =
  /** The endpoint answered 2xx. */
  | 'DELIVERED'
  /** The endpoint sent another response or none. */
  | 'FAILED'
  /** The attempt was interrupted, so the endpoint may or may not have received the event. */
  | 'UNKNOWN';

export type WebhookListQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type WebhookListQuery = { webhooks: { nodes: Array<WebhookRowFragment>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type WebhookRowFragment = { id: string, url: string, description: string, events: Array<string>, enabled: boolean, disabledAt: string | null, disabledReason: string | null, rateLimit: number | null, createdAt: string, updatedAt: string, filter: { domainIds: Array<string>, templateIds: Array<string>, automationIds: Array<string>, tags: Array<{ name: string, value: string | null }> } | null, headers: Array<{ name: string, value: string }> };

export type WebhookFiguresQueryVariables = Exact<{
  range: TimeRange;
  interval: StatisticsInterval;
  timezone: string;
  id?: string | null | undefined;
}>;


export type WebhookFiguresQuery = { webhookStatistics: { totals: WebhookCountsFragment, buckets: Array<{ start: string, figures: WebhookCountsFragment }>, endpoints: Array<{ webhook: { id: string }, figures: WebhookCountsFragment }> } };

export type WebhookCountsFragment = { deliveries: number, succeeded: number, failed: number, attempts: number, latency: { p50: number, p95: number } | null };

export type WebhookDetailQueryVariables = Exact<{
  id: string;
}>;


export type WebhookDetailQuery = { webhook: WebhookRowFragment | null };

export type WebhookDeliveryListQueryVariables = Exact<{
  webhookId: string;
  first?: number | null | undefined;
  after?: string | null | undefined;
  filter?: WebhookDeliveryFilter | null | undefined;
}>;


export type WebhookDeliveryListQuery = { webhookDeliveries: { nodes: Array<WebhookDeliveryRowFragment>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null };

export type WebhookDeliveryRowFragment = { id: string, eventId: string, eventType: string, isTest: boolean, state: WebhookDeliveryState, attemptCount: number, nextAttemptAt: string | null, replays: number, statusCode: number | null, error: string | null, createdAt: string, settledAt: string | null, summary: { emailId: string | null, recipient: string | null, subject: string | null } };

export type WebhookDeliveryDetailQueryVariables = Exact<{
  id: string;
}>;


export type WebhookDeliveryDetailQuery = { webhookDelivery: (
    { webhookId: string, attempts: Array<{ number: number, startedAt: string, finishedAt: string | null, outcome: WebhookAttemptOutcome | null, statusCode: number | null, error: string | null, response: string, remoteAddr: string | null, durationMs: number | null, responseHeaders: Array<{ name: string, value: string }> }> }
    & WebhookDeliveryRowFragment
  ) | null };

export type WebhookLastSuccessQueryVariables = Exact<{
  webhookId: string;
}>;


export type WebhookLastSuccessQuery = { webhookDeliveries: { nodes: Array<{ createdAt: string }> } | null };

export type WebhookFirstFailureQueryVariables = Exact<{
  webhookId: string;
  after?: string | null | undefined;
}>;


export type WebhookFirstFailureQuery = { webhookDeliveries: { nodes: Array<{ createdAt: string, attempts: Array<{ startedAt: string }> }> } | null };

export type WebhookDomainsQueryVariables = Exact<{ [key: string]: never; }>;


export type WebhookDomainsQuery = { domains: { nodes: Array<{ id: string, name: string }> } };

export type WebhookTemplatesQueryVariables = Exact<{ [key: string]: never; }>;


export type WebhookTemplatesQuery = { templates: { nodes: Array<{ id: string, name: string }> } };

export type WebhookAutomationsQueryVariables = Exact<{ [key: string]: never; }>;


export type WebhookAutomationsQuery = { automations: { nodes: Array<{ id: string, name: string }> } };

export const WebhookList = gql<WebhookListQuery, WebhookListQueryVariables>('WebhookList', '99ec8955c4e5caf5698f2eeff7a4d1464bda71d27baa8083be656ac1c6971e6e', import.meta.env.DEV ? "query WebhookList($first: Int, $after: String) {\n  webhooks(first: $first, after: $after) {\n    nodes {\n      ...WebhookRow\n    }\n    pageInfo {\n      hasNextPage\n      endCursor\n    }\n  }\n}\n\nfragment WebhookRow on Webhook {\n  id\n  url\n  description\n  events\n  filter {\n    domainIds\n    templateIds\n    automationIds\n    tags {\n      name\n      value\n    }\n  }\n  headers {\n    name\n    value\n  }\n  enabled\n  disabledAt\n  disabledReason\n  rateLimit\n  createdAt\n  updatedAt\n}" : undefined)
export const WebhookFigures = gql<WebhookFiguresQuery, WebhookFiguresQueryVariables>('WebhookFigures', '9e8bef85b73cea9888d95482760375224a4fee992ff96ec8cef42c6db133a57c', import.meta.env.DEV ? "query WebhookFigures($range: TimeRange!, $interval: StatisticsInterval!, $timezone: String!, $id: ID) {\n  webhookStatistics(\n    range: $range\n    interval: $interval\n    timezone: $timezone\n    webhookId: $id\n  ) {\n    totals {\n      ...WebhookCounts\n    }\n    buckets {\n      start\n      figures {\n        ...WebhookCounts\n      }\n    }\n    endpoints {\n      webhook {\n        id\n      }\n      figures {\n        ...WebhookCounts\n      }\n    }\n  }\n}\n\nfragment WebhookCounts on WebhookFigures {\n  deliveries\n  succeeded\n  failed\n  attempts\n  latency {\n    p50\n    p95\n  }\n}" : undefined)
export const WebhookDetail = gql<WebhookDetailQuery, WebhookDetailQueryVariables>('WebhookDetail', 'ebe495500bcfb96b1dda0cdeecd979575f2c3ef956f64f0cdf1e070df3780025', import.meta.env.DEV ? "query WebhookDetail($id: ID!) {\n  webhook(id: $id) {\n    ...WebhookRow\n  }\n}\n\nfragment WebhookRow on Webhook {\n  id\n  url\n  description\n  events\n  filter {\n    domainIds\n    templateIds\n    automationIds\n    tags {\n      name\n      value\n    }\n  }\n  headers {\n    name\n    value\n  }\n  enabled\n  disabledAt\n  disabledReason\n  rateLimit\n  createdAt\n  updatedAt\n}" : undefined)
export const WebhookDeliveryList = gql<WebhookDeliveryListQuery, WebhookDeliveryListQueryVariables>('WebhookDeliveryList', '90bc4c825c84493154fe29b027d326afdeb4e7854f808a08292e0f475e50425f', import.meta.env.DEV ? "query WebhookDeliveryList($webhookId: ID!, $first: Int, $after: String, $filter: WebhookDeliveryFilter) {\n  webhookDeliveries(\n    webhookId: $webhookId\n    first: $first\n    after: $after\n    filter: $filter\n  ) {\n    nodes {\n      ...WebhookDeliveryRow\n    }\n    pageInfo {\n      hasNextPage\n      endCursor\n    }\n  }\n}\n\nfragment WebhookDeliveryRow on WebhookDelivery {\n  id\n  eventId\n  eventType\n  isTest\n  summary {\n    emailId\n    recipient\n    subject\n  }\n  state\n  attemptCount\n  nextAttemptAt\n  replays\n  statusCode\n  error\n  createdAt\n  settledAt\n}" : undefined)
export const WebhookDeliveryDetail = gql<WebhookDeliveryDetailQuery, WebhookDeliveryDetailQueryVariables>('WebhookDeliveryDetail', 'ad774276e92865c140f031f250915b3fe1286058c138e2981d5e3a884851bb71', import.meta.env.DEV ? "query WebhookDeliveryDetail($id: ID!) {\n  webhookDelivery(id: $id) {\n    ...WebhookDeliveryRow\n    webhookId\n    attempts {\n      number\n      startedAt\n      finishedAt\n      outcome\n      statusCode\n      error\n      response\n      responseHeaders {\n        name\n        value\n      }\n      remoteAddr\n      durationMs\n    }\n  }\n}\n\nfragment WebhookDeliveryRow on WebhookDelivery {\n  id\n  eventId\n  eventType\n  isTest\n  summary {\n    emailId\n    recipient\n    subject\n  }\n  state\n  attemptCount\n  nextAttemptAt\n  replays\n  statusCode\n  error\n  createdAt\n  settledAt\n}" : undefined)
export const WebhookLastSuccess = gql<WebhookLastSuccessQuery, WebhookLastSuccessQueryVariables>('WebhookLastSuccess', '9d2812f0c4d62ad11966d6e38f1cb2c1e128a54b9045aa11eb6ad7092f3741ff', import.meta.env.DEV ? "query WebhookLastSuccess($webhookId: ID!) {\n  webhookDeliveries(webhookId: $webhookId, first: 1, filter: {state: DELIVERED}) {\n    nodes {\n      createdAt\n    }\n  }\n}" : undefined)
export const WebhookFirstFailure = gql<WebhookFirstFailureQuery, WebhookFirstFailureQueryVariables>('WebhookFirstFailure', '075c98f375b79b77599039f593c2c94843a3dab1953bdae86d2e847e3613447f', import.meta.env.DEV ? "query WebhookFirstFailure($webhookId: ID!, $after: DateTime) {\n  webhookDeliveries(\n    webhookId: $webhookId\n    last: 1\n    filter: {createdAt: {gte: $after}}\n  ) {\n    nodes {\n      createdAt\n      attempts {\n        startedAt\n      }\n    }\n  }\n}" : undefined)
export const WebhookDomains = gql<WebhookDomainsQuery, WebhookDomainsQueryVariables>('WebhookDomains', 'ea0d7e02e8ce29d73db00de810c3b37708c44559cdf4c93ccfc2bf9be495281a', import.meta.env.DEV ? "query WebhookDomains {\n  domains(first: 100) {\n    nodes {\n      id\n      name\n    }\n  }\n}" : undefined)
export const WebhookTemplates = gql<WebhookTemplatesQuery, WebhookTemplatesQueryVariables>('WebhookTemplates', '385714945851b7289769432d78cecce3214e03fb900a5fc412b827bd3984eb6d', import.meta.env.DEV ? "query WebhookTemplates {\n  templates(first: 100, filter: {kind: TEMPLATE}) {\n    nodes {\n      id\n      name\n    }\n  }\n}" : undefined)
export const WebhookAutomations = gql<WebhookAutomationsQuery, WebhookAutomationsQueryVariables>('WebhookAutomations', '101d1cceff9a347c4df362181d7ad8741b7d22e3ffd766dc3b339dabb18d1720', import.meta.env.DEV ? "query WebhookAutomations {\n  automations(first: 100) {\n    nodes {\n      id\n      name\n    }\n  }\n}" : undefined)
