// Written by `npm run codegen`; do not edit.
import { gql } from '@/api/document'

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Filters a list of custom events. Omitted fields do not filter. */
export type CustomEventFilter = {
  /** Matches events with this name. */
  name?: string | null | undefined;
  /** Matches this user ID. */
  userId?: string | null | undefined;
  /** Matches this address, case-insensitive. */
  email?: string | null | undefined;
  /** Matches events from this source. */
  source?: CustomEventSource | null | undefined;
  /** Matches events accepted in this time range. */
  createdAt?: DateTimeFilter | null | undefined;
  /** Search text. A complete name, user ID, address or event ID matches in all events, and parts of them in the newest 10,000. Accepts the fields `name:`, `user:`, `email:`, `source:`, `after:` and `before:`. At most 200 characters and 10 words. */
  query?: string | null | undefined;
};

/** The status of an automation. */
export type AutomationStatus =
  /** The automation was never activated. */
  | 'DRAFT'
  /** Events start runs of the active version. */
  | 'ACTIVE'
  /** The automation starts no runs. */
  | 'PAUSED'
  /** The automation starts no runs, and its live runs were cancelled. */
  | 'ARCHIVED';

/** The source of a custom event. */
export type CustomEventSource =
  /** Sent with an API key. */
  | 'API'
  /** Sent from a dashboard session. */
  | 'DASHBOARD'
  /** Created by the service. The name starts with `$`. */
  | 'SYSTEM';

/** A time range. Both ends are optional. */
export type DateTimeFilter = {
  /** Start of the range, inclusive. */
  gte?: string | null | undefined;
  /** End of the range, exclusive. */
  lt?: string | null | undefined;
};

export type CustomEventsQueryVariables = Exact<{
  after?: string | null | undefined;
  filter?: CustomEventFilter | null | undefined;
}>;


export type CustomEventsQuery = { customEvents: { nodes: Array<{ id: string, name: string, userId: string | null, email: string | null, source: CustomEventSource, createdAt: string, matches: Array<{ automationId: string, outcome: string }> }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type CustomEventHeadQueryVariables = Exact<{
  filter?: CustomEventFilter | null | undefined;
}>;


export type CustomEventHeadQuery = { customEvents: { nodes: Array<{ id: string, createdAt: string }> } };

export type CustomEventDetailQueryVariables = Exact<{
  id: string;
}>;


export type CustomEventDetailQuery = { customEvent: { id: string, name: string, userId: string | null, email: string | null, data: unknown, source: CustomEventSource, createdAt: string, explanation: { matches: Array<{ automationId: string, automationName: string | null, version: number, outcome: string, runId: string | null, stepKey: string | null, error: string | null, conditions: Array<{ text: string, result: boolean, error: string | null, parts: Array<{ text: string, value: unknown, error: string | null }> }> }>, nearMisses: Array<{ kind: string, automationId: string | null, runId: string | null, stepKey: string | null, eventId: string | null, name: string, condition: { text: string, result: boolean, error: string | null, parts: Array<{ text: string, value: unknown, error: string | null }> } | null }> } } | null };

export type EventAutomationsQueryVariables = Exact<{ [key: string]: never; }>;


export type EventAutomationsQuery = { automations: { nodes: Array<{ id: string, name: string, status: AutomationStatus, trigger: unknown }> } };

export const CustomEvents = gql<CustomEventsQuery, CustomEventsQueryVariables>('CustomEvents', '05866c4117a044aced27462972d8c85969240c5c07e810ffbc0bdb14b9582783', import.meta.env.DEV ? "query CustomEvents($after: String, $filter: CustomEventFilter) {\n  customEvents(first: 50, after: $after, filter: $filter) {\n    nodes {\n      id\n      name\n      userId\n      email\n      source\n      createdAt\n      matches {\n        automationId\n        outcome\n      }\n    }\n    pageInfo {\n      hasNextPage\n      endCursor\n    }\n  }\n}" : undefined)
export const CustomEventHead = gql<CustomEventHeadQuery, CustomEventHeadQueryVariables>('CustomEventHead', '4b1967f44268274696482128124c55723a129c15e79091fa8b8b5f54d0e09967', import.meta.env.DEV ? "query CustomEventHead($filter: CustomEventFilter) {\n  customEvents(first: 50, filter: $filter) {\n    nodes {\n      id\n      createdAt\n    }\n  }\n}" : undefined)
export const CustomEventDetail = gql<CustomEventDetailQuery, CustomEventDetailQueryVariables>('CustomEventDetail', 'ab6c7203e5e8c1cb2615976843695c21133d03730158c7bffbc87bacd6862a81', import.meta.env.DEV ? "query CustomEventDetail($id: ID!) {\n  customEvent(id: $id) {\n    id\n    name\n    userId\n    email\n    data\n    source\n    createdAt\n    explanation {\n      matches {\n        automationId\n        automationName\n        version\n        outcome\n        runId\n        stepKey\n        error\n        conditions {\n          text\n          result\n          error\n          parts {\n            text\n            value\n            error\n          }\n        }\n      }\n      nearMisses {\n        kind\n        automationId\n        runId\n        stepKey\n        eventId\n        name\n        condition {\n          text\n          result\n          error\n          parts {\n            text\n            value\n            error\n          }\n        }\n      }\n    }\n  }\n}" : undefined)
export const EventAutomations = gql<EventAutomationsQuery, EventAutomationsQueryVariables>('EventAutomations', '65a98c7fc71557149359d397559f0fbb3f858739861bb2f968ec59e8193e1676', import.meta.env.DEV ? "query EventAutomations {\n  automations(first: 100) {\n    nodes {\n      id\n      name\n      status\n      trigger\n    }\n  }\n}" : undefined)
