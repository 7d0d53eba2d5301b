// Written by `npm run codegen`; do not edit.
import { gql } from '@/api/document'

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Filters a list of automations. Omitted fields do not filter. */
export type AutomationFilter = {
  /** Matches this status. */
  status?: AutomationStatus | null | undefined;
  /** Matches automations whose draft is triggered by events with this name. */
  event?: string | null | undefined;
  /** Part of the name, case-insensitive. */
  query?: string | null | undefined;
};

/** Filters a list of runs. Omitted fields do not filter. */
export type AutomationRunFilter = {
  /** Matches runs of this automation. */
  automationId?: string | null | undefined;
  /** Matches this status. */
  status?: AutomationRunStatus | null | undefined;
  /** Matches this user ID. */
  userId?: string | null | undefined;
  /** Matches this address, case-insensitive. */
  email?: string | null | undefined;
  /** Matches runs whose next step has this key, or that wait or ended at it. Requires `automationId`. */
  step?: string | null | undefined;
  /** Matches runs that follow this version. */
  version?: number | null | undefined;
  /** Matches runs that started in this time range. */
  startedAt?: DateTimeFilter | null | undefined;
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

/** Background work on live runs. */
export type AutomationDraining =
  /** Held runs continue. */
  | 'RELEASE'
  /** Live runs are cancelled. */
  | 'CANCEL';

/** The status of a run. */
export type AutomationRunStatus =
  /** A step is due. */
  | 'RUNNING'
  /** The run waits for an event or a time, or a step will be retried later. */
  | 'WAITING'
  /** The run reached the end. */
  | 'COMPLETED'
  /** A step failed, and the run failed with it. */
  | 'FAILED'
  /** The run was cancelled by an event, by a user, or because the automation was archived. */
  | 'CANCELLED';

/** The status of a domain. */
export type DomainStatus =
  /** Records are missing. The domain cannot send yet. */
  | 'PENDING'
  /** All required records were found. The domain can send. */
  | 'VERIFIED'
  /** The domain was verified, but records broke. It can still send for 72 hours. */
  | 'TEMPORARY_FAILURE'
  /** The records stayed broken. The domain can no longer send. */
  | 'FAILED';

/** The status of an email. */
export type EmailStatus =
  /** Released, and delivery is about to start. Emails of a suspended account also have this status. */
  | 'QUEUED'
  /** Waiting for its scheduled time. */
  | 'SCHEDULED'
  /** Accepted, and delivery is in progress. */
  | 'SENT'
  /** Accepted by every recipient's server. */
  | 'DELIVERED'
  /** Permanently refused by a recipient's server, or retries ran out. */
  | 'BOUNCED'
  /** Another reason prevents delivery. */
  | 'FAILED'
  /** Cancelled before its scheduled time. */
  | 'CANCELLED';

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

/** Whether emails can use a template. */
export type TemplateStatus =
  /** The template was never published. */
  | 'DRAFT'
  /** Emails use the published version. */
  | 'PUBLISHED';

export type AutomationsQueryVariables = Exact<{
  after?: string | null | undefined;
  filter?: AutomationFilter | null | undefined;
}>;


export type AutomationsQuery = { automations: { nodes: Array<{ id: string, name: string, description: string | null, status: AutomationStatus, version: number | null, hasUnpublishedChanges: boolean, draining: AutomationDraining | null, trigger: unknown, updatedAt: string, stats: { started: number, running: number, waiting: number, completed: number, failed: number, cancelled: number } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type AutomationDetailQueryVariables = Exact<{
  id: string;
}>;


export type AutomationDetailQuery = { automation: { id: string, name: string, description: string | null, status: AutomationStatus, version: number | null, hasUnpublishedChanges: boolean, draining: AutomationDraining | null, etag: string, updatedAt: string, activatedAt: string | null, goal: { event: string, withinDays: number } | null, stats: { started: number, running: number, waiting: number, completed: number, failed: number, cancelled: number, withGoal: number, converted: number, conversionRate: { numerator: number, denominator: number } }, steps: Array<{ index: number, key: string, type: string, name: string | null, summary: string, stats: { entered: number, completed: number, timedOut: number, skipped: number, failed: number, cancelled: number, waiting: number, emails: { sent: number, delivered: number, opened: number | null, clicked: number | null, bounced: number } | null, sms: { sent: number, delivered: number, failed: number } | null } }>, versions: Array<{ number: number, definition: unknown, createdAt: string, activatedBy: string | null }> } | null };

export type AutomationOverTimeQueryVariables = Exact<{
  id: string;
  range: TimeRange;
  interval: StatisticsInterval;
  timezone: string;
}>;


export type AutomationOverTimeQuery = { automationStatistics: { totals: RunFiguresFragment, buckets: Array<{ start: string, figures: RunFiguresFragment }> } };

export type RunFiguresFragment = { started: number, withGoal: number, completed: number, failed: number, cancelled: number, converted: number, conversionRate: { numerator: number, denominator: number } };

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


export type AutomationRunDetailQuery = { automationRun: { id: string, automationId: string, version: number, eventId: string, event: unknown, userId: string | null, email: string | null, status: AutomationRunStatus, error: string | null, startedAt: string, endedAt: string | null, convertedAt: string | null, held: boolean, nextAt: string | null, stepIndex: number, steps: Array<{ key: string, status: string, output: unknown, error: string | null }>, waitingFor: { step: string, events: Array<string>, since: string | null, until: string, reason: { code: string, message: string, since: string } | null } | null, timeline: Array<{ at: string, source: string, type: string, status: string | null, stepKey: string | null, subjectId: string | null, error: string | null, data: unknown }>, emails: Array<{ id: string, subject: string, status: EmailStatus }> } | null };

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
export const AutomationDetail = gql<AutomationDetailQuery, AutomationDetailQueryVariables>('AutomationDetail', 'e25d4a2498d2af50b80cb2a139a3ee022382d775d31b80e03cbfbd8c2419440e', import.meta.env.DEV ? "query AutomationDetail($id: ID!) {\n  automation(id: $id) {\n    id\n    name\n    description\n    status\n    version\n    hasUnpublishedChanges\n    draining\n    etag\n    updatedAt\n    activatedAt\n    goal {\n      event\n      withinDays\n    }\n    stats {\n      started\n      running\n      waiting\n      completed\n      failed\n      cancelled\n      withGoal\n      converted\n      conversionRate {\n        numerator\n        denominator\n      }\n    }\n    steps {\n      index\n      key\n      type\n      name\n      summary\n      stats {\n        entered\n        completed\n        timedOut\n        skipped\n        failed\n        cancelled\n        waiting\n        emails {\n          sent\n          delivered\n          opened\n          clicked\n          bounced\n        }\n        sms {\n          sent\n          delivered\n          failed\n        }\n      }\n    }\n    versions {\n      number\n      definition\n      createdAt\n      activatedBy\n    }\n  }\n}" : undefined)
export const AutomationOverTime = gql<AutomationOverTimeQuery, AutomationOverTimeQueryVariables>('AutomationOverTime', 'f4b8509e89af2e30723940f18d86f08882b03720255910eb3125b5679d1e9275', import.meta.env.DEV ? "query AutomationOverTime($id: ID!, $range: TimeRange!, $interval: StatisticsInterval!, $timezone: String!) {\n  automationStatistics(\n    range: $range\n    interval: $interval\n    timezone: $timezone\n    automationId: $id\n  ) {\n    totals {\n      ...RunFigures\n    }\n    buckets {\n      start\n      figures {\n        ...RunFigures\n      }\n    }\n  }\n}\n\nfragment RunFigures on AutomationFigures {\n  started\n  withGoal\n  completed\n  failed\n  cancelled\n  converted\n  conversionRate {\n    numerator\n    denominator\n  }\n}" : undefined)
export const AutomationStamp = gql<AutomationStampQuery, AutomationStampQueryVariables>('AutomationStamp', 'b79b98e8a82b097622fabdf6b57366c35f1c7b610b9b575bdf7cbab76bcbc270', import.meta.env.DEV ? "query AutomationStamp($id: ID!) {\n  automation(id: $id) {\n    etag\n    updatedAt\n  }\n}" : undefined)
export const AutomationRuns = gql<AutomationRunsQuery, AutomationRunsQueryVariables>('AutomationRuns', '7225b7d2fea75c1e36ea78f9f920383e31abfca4fee1c1f73ee0ddbe469c061e', import.meta.env.DEV ? "query AutomationRuns($after: String, $filter: AutomationRunFilter) {\n  automationRuns(first: 50, after: $after, filter: $filter) {\n    nodes {\n      id\n      automationId\n      version\n      userId\n      email\n      status\n      error\n      startedAt\n      endedAt\n      held\n      nextAt\n      waitingFor {\n        reason {\n          code\n          message\n        }\n      }\n    }\n    pageInfo {\n      hasNextPage\n      endCursor\n    }\n  }\n}" : undefined)
export const AutomationRunDetail = gql<AutomationRunDetailQuery, AutomationRunDetailQueryVariables>('AutomationRunDetail', 'e90f4acada57602b51a1bbab7ec91aec79585a0935866f595f154fd1f6fed6e1', import.meta.env.DEV ? "query AutomationRunDetail($id: ID!) {\n  automationRun(id: $id) {\n    id\n    automationId\n    version\n    eventId\n    event\n    userId\n    email\n    status\n    error\n    startedAt\n    endedAt\n    convertedAt\n    held\n    nextAt\n    stepIndex\n    steps {\n      key\n      status\n      output\n      error\n    }\n    waitingFor {\n      step\n      events\n      since\n      until\n      reason {\n        code\n        message\n        since\n      }\n    }\n    timeline {\n      at\n      source\n      type\n      status\n      stepKey\n      subjectId\n      error\n      data\n    }\n    emails {\n      id\n      subject\n      status\n    }\n  }\n}" : undefined)
export const AutomationName = gql<AutomationNameQuery, AutomationNameQueryVariables>('AutomationName', '5e19bb3b0e4fc07bcd832dad9b17475642e8371dd2eed35c29794e2cf5a2152c', import.meta.env.DEV ? "query AutomationName($id: ID!) {\n  automation(id: $id) {\n    id\n    name\n    version\n  }\n}" : undefined)
export const AutomationTemplates = gql<AutomationTemplatesQuery, AutomationTemplatesQueryVariables>('AutomationTemplates', '7bf058022e06b64733f2d196d554bad2b29075423f4f97b498832bfa6e66a6a5', import.meta.env.DEV ? "query AutomationTemplates {\n  templates(first: 100, filter: {kind: TEMPLATE}) {\n    nodes {\n      id\n      alias\n      name\n      status\n      version\n      subject\n      from\n      variables {\n        key\n        type\n        required\n      }\n    }\n  }\n}" : undefined)
export const AutomationSenders = gql<AutomationSendersQuery, AutomationSendersQueryVariables>('AutomationSenders', '2a9f5770fb35fe57be236ba784a0aa0594331626bfa5d49b615fe1a9bd09b32f', import.meta.env.DEV ? "query AutomationSenders {\n  domains(first: 50) {\n    nodes {\n      name\n      status\n    }\n  }\n}" : undefined)
export const AutomationSamples = gql<AutomationSamplesQuery, AutomationSamplesQueryVariables>('AutomationSamples', 'daf730e0c20b034bdaa1393c1d09c365c96221ea54b99dfffdea437e45dd3ffc', import.meta.env.DEV ? "query AutomationSamples($name: String!) {\n  customEvents(first: 10, filter: {name: $name}) {\n    nodes {\n      id\n      email\n      userId\n      data\n      createdAt\n    }\n  }\n}" : undefined)
export const AutomationEventNames = gql<AutomationEventNamesQuery, AutomationEventNamesQueryVariables>('AutomationEventNames', 'b9848240b946ad9e7b31c455d868efb24ec100ec168d0fc02e9c58dd0324c855', import.meta.env.DEV ? "query AutomationEventNames {\n  customEvents(first: 100) {\n    nodes {\n      name\n    }\n  }\n}" : undefined)
