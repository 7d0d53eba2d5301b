// Written by `npm run codegen`; do not edit.
import { gql } from '@/api/document'

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** What narrows a list of automations. Fields that are left out narrow nothing. */
export type AutomationFilter = {
  /** Of this status. */
  status?: AutomationStatus | null | undefined;
  /** Whose draft is started by events of this name. */
  event?: string | null | undefined;
  /** With this in the name, in any case. */
  query?: string | null | undefined;
};

/** What narrows a list of runs. Fields that are left out narrow nothing. */
export type AutomationRunFilter = {
  /** Of this automation. */
  automationId?: string | null | undefined;
  /** Of this status. */
  status?: AutomationRunStatus | null | undefined;
  /** Of this person. */
  userId?: string | null | undefined;
  /** Of this address, in any case. */
  email?: string | null | undefined;
  /** That are at the step with this key, wait there or have ended there; needs `automationId`. */
  step?: string | null | undefined;
  /** That follow this version. */
  version?: number | null | undefined;
  /** Started in this stretch of time. */
  startedAt?: DateTimeFilter | null | undefined;
};

/** Whether an automation starts runs. */
export type AutomationStatus =
  /** It was never activated. */
  | 'DRAFT'
  /** Events start runs of its version. */
  | 'ACTIVE'
  /** It starts no runs. */
  | 'PAUSED'
  /** It starts no runs, and its live runs were cancelled. */
  | 'ARCHIVED';

/** What goes on with live runs. */
export type AutomationDraining =
  /** Runs that were held are let go. */
  | 'RELEASE'
  /** Live runs are cancelled. */
  | 'CANCEL';

/** Where a run stands. */
export type AutomationRunStatus =
  /** A step is due. */
  | 'RUNNING'
  /** It waits for an event or a time, or a step is tried again later. */
  | 'WAITING'
  /** It has reached the end. */
  | 'COMPLETED'
  /** A step failed, and the run with it. */
  | 'FAILED'
  /** An event, a person or the archiving of the automation ended it. */
  | 'CANCELLED';

/** Where a domain stands. */
export type DomainStatus =
  /** Records are missing; it cannot send yet. */
  | 'PENDING'
  /** All required records were found; it sends. */
  | 'VERIFIED'
  /** Was verified, but records broke; it still sends for 72 hours. */
  | 'TEMPORARY_FAILURE'
  /** Stayed broken; it no longer sends. */
  | 'FAILED';

/** Where a message stands. */
export type EmailStatus =
  /** Released, and about to be handed over; also while its account is suspended. */
  | 'QUEUED'
  /** Waits for its time. */
  | 'SCHEDULED'
  /** Accepted, and on its way. */
  | 'SENT'
  /** Every recipient's server took it. */
  | 'DELIVERED'
  /** A recipient's server refused it for good, or retries ran out. */
  | 'BOUNCED'
  /** No attempt could succeed for another reason. */
  | 'FAILED'
  /** Cancelled before its time. */
  | 'CANCELLED';

/** A stretch of time. Both ends may be left out. */
export type DateTimeFilter = {
  /** At this time or later. */
  gte?: string | null | undefined;
  /** Before this time. */
  lt?: string | null | undefined;
};

/** Whether sends can use a template. */
export type TemplateStatus =
  /** It was never published. */
  | 'DRAFT'
  /** Sends use its published version. */
  | 'PUBLISHED';

export type AutomationsQueryVariables = Exact<{
  after?: string | null | undefined;
  filter?: AutomationFilter | null | undefined;
}>;


export type AutomationsQuery = { automations: { nodes: Array<{ id: string, name: string, description: string | null, status: AutomationStatus, version: number | null, hasUnpublishedChanges: boolean, draining: AutomationDraining | null, trigger: unknown, updatedAt: string, stats: { started: number, running: number, waiting: number, completed: number, failed: number, cancelled: number } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type AutomationDetailQueryVariables = Exact<{
  id: string;
}>;


export type AutomationDetailQuery = { automation: { id: string, name: string, description: string | null, status: AutomationStatus, version: number | null, hasUnpublishedChanges: boolean, draining: AutomationDraining | null, etag: string, updatedAt: string, activatedAt: string | null, stats: { started: number, running: number, waiting: number, completed: number, failed: number, cancelled: number }, steps: Array<{ index: number, key: string, type: string, name: string | null, summary: string, stats: { entered: number, completed: number, timedOut: number, skipped: number, failed: number, cancelled: number, waiting: number, emails: { sent: number, delivered: number, opened: number | null, clicked: number | null, bounced: number } | null, sms: { sent: number, delivered: number, failed: number } | null } }>, versions: Array<{ number: number, definition: unknown, createdAt: string }> } | null };

export type AutomationStampQueryVariables = Exact<{
  id: string;
}>;


export type AutomationStampQuery = { automation: { etag: string, updatedAt: string } | null };

export type AutomationRunsQueryVariables = Exact<{
  after?: string | null | undefined;
  filter?: AutomationRunFilter | null | undefined;
}>;


export type AutomationRunsQuery = { automationRuns: { nodes: Array<{ id: string, automationId: string, version: number, userId: string | null, email: string | null, status: AutomationRunStatus, error: string | null, startedAt: string, endedAt: string | null, held: boolean, nextAt: string | null, waitingFor: { reason: { code: string, message: string } | null } | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null };

export type AutomationRunDetailQueryVariables = Exact<{
  id: string;
}>;


export type AutomationRunDetailQuery = { automationRun: { id: string, automationId: string, version: number, eventId: string, event: unknown, userId: string | null, email: string | null, status: AutomationRunStatus, error: string | null, startedAt: string, endedAt: string | null, held: boolean, nextAt: string | null, stepIndex: number, steps: Array<{ key: string, status: string, output: unknown, error: string | null }>, waitingFor: { step: string, events: Array<string>, since: string | null, until: string, reason: { code: string, message: string, since: string } | null } | null, timeline: Array<{ at: string, source: string, type: string, status: string | null, stepKey: string | null, subjectId: string | null, error: string | null, data: unknown }>, emails: Array<{ id: string, subject: string, status: EmailStatus }> } | null };

export type AutomationNameQueryVariables = Exact<{
  id: string;
}>;


export type AutomationNameQuery = { automation: { id: string, name: string, version: number | null } | null };

export type AutomationTemplatesQueryVariables = Exact<{ [key: string]: never; }>;


export type AutomationTemplatesQuery = { templates: { nodes: Array<{ id: string, alias: string | null, name: string, status: TemplateStatus, version: number | null, subject: string | null, from: string | null, variables: Array<{ key: string, type: string, required: boolean }> }> } };

export type AutomationSendersQueryVariables = Exact<{ [key: string]: never; }>;


export type AutomationSendersQuery = { domains: { nodes: Array<{ name: string, status: DomainStatus }> } };

export type AutomationSamplesQueryVariables = Exact<{
  name: string;
}>;


export type AutomationSamplesQuery = { customEvents: { nodes: Array<{ id: string, email: string | null, userId: string | null, data: unknown, createdAt: string }> } };

export type AutomationEventNamesQueryVariables = Exact<{ [key: string]: never; }>;


export type AutomationEventNamesQuery = { customEvents: { nodes: Array<{ name: string }> } };

export const Automations = gql<AutomationsQuery, AutomationsQueryVariables>('Automations', 'ef69ab4e01195af12578ff1979bbe28ae58f7d289eb263e9c37991b6f6e760ef', import.meta.env.DEV ? "query Automations($after: String, $filter: AutomationFilter) {\n  automations(first: 50, after: $after, filter: $filter) {\n    nodes {\n      id\n      name\n      description\n      status\n      version\n      hasUnpublishedChanges\n      draining\n      trigger\n      updatedAt\n      stats {\n        started\n        running\n        waiting\n        completed\n        failed\n        cancelled\n      }\n    }\n    pageInfo {\n      hasNextPage\n      endCursor\n    }\n  }\n}" : undefined)
export const AutomationDetail = gql<AutomationDetailQuery, AutomationDetailQueryVariables>('AutomationDetail', 'cdd86f4368b9b9523de439d906708a83077cb4943d02d87f4f5a17aa7093db1c', import.meta.env.DEV ? "query AutomationDetail($id: ID!) {\n  automation(id: $id) {\n    id\n    name\n    description\n    status\n    version\n    hasUnpublishedChanges\n    draining\n    etag\n    updatedAt\n    activatedAt\n    stats {\n      started\n      running\n      waiting\n      completed\n      failed\n      cancelled\n    }\n    steps {\n      index\n      key\n      type\n      name\n      summary\n      stats {\n        entered\n        completed\n        timedOut\n        skipped\n        failed\n        cancelled\n        waiting\n        emails {\n          sent\n          delivered\n          opened\n          clicked\n          bounced\n        }\n        sms {\n          sent\n          delivered\n          failed\n        }\n      }\n    }\n    versions {\n      number\n      definition\n      createdAt\n    }\n  }\n}" : undefined)
export const AutomationStamp = gql<AutomationStampQuery, AutomationStampQueryVariables>('AutomationStamp', 'b79b98e8a82b097622fabdf6b57366c35f1c7b610b9b575bdf7cbab76bcbc270', import.meta.env.DEV ? "query AutomationStamp($id: ID!) {\n  automation(id: $id) {\n    etag\n    updatedAt\n  }\n}" : undefined)
export const AutomationRuns = gql<AutomationRunsQuery, AutomationRunsQueryVariables>('AutomationRuns', '7225b7d2fea75c1e36ea78f9f920383e31abfca4fee1c1f73ee0ddbe469c061e', import.meta.env.DEV ? "query AutomationRuns($after: String, $filter: AutomationRunFilter) {\n  automationRuns(first: 50, after: $after, filter: $filter) {\n    nodes {\n      id\n      automationId\n      version\n      userId\n      email\n      status\n      error\n      startedAt\n      endedAt\n      held\n      nextAt\n      waitingFor {\n        reason {\n          code\n          message\n        }\n      }\n    }\n    pageInfo {\n      hasNextPage\n      endCursor\n    }\n  }\n}" : undefined)
export const AutomationRunDetail = gql<AutomationRunDetailQuery, AutomationRunDetailQueryVariables>('AutomationRunDetail', 'bdc8d88178b46879081559d71575f630208d3b37f7ef933d0001a7d4689cd3a8', import.meta.env.DEV ? "query AutomationRunDetail($id: ID!) {\n  automationRun(id: $id) {\n    id\n    automationId\n    version\n    eventId\n    event\n    userId\n    email\n    status\n    error\n    startedAt\n    endedAt\n    held\n    nextAt\n    stepIndex\n    steps {\n      key\n      status\n      output\n      error\n    }\n    waitingFor {\n      step\n      events\n      since\n      until\n      reason {\n        code\n        message\n        since\n      }\n    }\n    timeline {\n      at\n      source\n      type\n      status\n      stepKey\n      subjectId\n      error\n      data\n    }\n    emails {\n      id\n      subject\n      status\n    }\n  }\n}" : undefined)
export const AutomationName = gql<AutomationNameQuery, AutomationNameQueryVariables>('AutomationName', '5e19bb3b0e4fc07bcd832dad9b17475642e8371dd2eed35c29794e2cf5a2152c', import.meta.env.DEV ? "query AutomationName($id: ID!) {\n  automation(id: $id) {\n    id\n    name\n    version\n  }\n}" : undefined)
export const AutomationTemplates = gql<AutomationTemplatesQuery, AutomationTemplatesQueryVariables>('AutomationTemplates', '36f298eb4624bb16e526a1417c919f3b0bb1a497ca2ee84262c4b29c57e66101', import.meta.env.DEV ? "query AutomationTemplates {\n  templates(first: 100) {\n    nodes {\n      id\n      alias\n      name\n      status\n      version\n      subject\n      from\n      variables {\n        key\n        type\n        required\n      }\n    }\n  }\n}" : undefined)
export const AutomationSenders = gql<AutomationSendersQuery, AutomationSendersQueryVariables>('AutomationSenders', '2a9f5770fb35fe57be236ba784a0aa0594331626bfa5d49b615fe1a9bd09b32f', import.meta.env.DEV ? "query AutomationSenders {\n  domains(first: 50) {\n    nodes {\n      name\n      status\n    }\n  }\n}" : undefined)
export const AutomationSamples = gql<AutomationSamplesQuery, AutomationSamplesQueryVariables>('AutomationSamples', 'daf730e0c20b034bdaa1393c1d09c365c96221ea54b99dfffdea437e45dd3ffc', import.meta.env.DEV ? "query AutomationSamples($name: String!) {\n  customEvents(first: 10, filter: {name: $name}) {\n    nodes {\n      id\n      email\n      userId\n      data\n      createdAt\n    }\n  }\n}" : undefined)
export const AutomationEventNames = gql<AutomationEventNamesQuery, AutomationEventNamesQueryVariables>('AutomationEventNames', 'b9848240b946ad9e7b31c455d868efb24ec100ec168d0fc02e9c58dd0324c855', import.meta.env.DEV ? "query AutomationEventNames {\n  customEvents(first: 100) {\n    nodes {\n      name\n    }\n  }\n}" : undefined)
