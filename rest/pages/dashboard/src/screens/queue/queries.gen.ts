// Written by `npm run codegen`; do not edit.
import { gql } from '@/api/document'

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/**
 * Selects queued recipients: those that match every given field, or all of the account. Recipients of other accounts
 * never match.
 */
export type QueueSelection = {
  /** Selects recipients with these IDs, as in `QueuedRecipient`; at most 1000. */
  recipients?: Array<string> | null | undefined;
  /** Matches recipients of this email. */
  email?: string | null | undefined;
  /** Matches recipients at this domain, with an internationalized domain in A-labels (`xn--…`). */
  destination?: string | null | undefined;
  /** Selects all recipients. Cannot be combined with other fields. */
  all?: boolean;
};

/** Filters the queue. Omitted fields do not filter. */
export type QueueFilter = {
  /** Matches recipients at this domain, with an internationalized domain in A-labels (`xn--…`). */
  destination?: string | null | undefined;
  /** Matches recipients of this email. */
  email?: string | null | undefined;
  /** Matches this state. */
  state?: QueueState | null | undefined;
};

/** The state of a recipient in the queue. */
export type QueueState =
  /** Not attempted yet. */
  | 'QUEUED'
  /** Attempted without success and waiting for the next attempt. */
  | 'DEFERRED'
  /** Waiting for capacity to the destination, whose servers accept no more mail at the moment. */
  | 'PARKED'
  /** Held by the account or by the operator of the service. */
  | 'HELD';

export type QueueBacklogsQueryVariables = Exact<{ [key: string]: never; }>;


export type QueueBacklogsQuery = { queueByDestination: Array<{ destination: string, total: number, due: number, running: number, parked: number, deferred: number, held: number, oldestAgeSeconds: number, diagnostic: string | null }> };

export type QueueRecipientsQueryVariables = Exact<{
  after?: string | null | undefined;
  filter?: QueueFilter | null | undefined;
}>;


export type QueueRecipientsQuery = { queue: { nodes: Array<{ id: string, emailId: string, address: string, destination: string, state: QueueState, running: boolean, attempts: number, nextAttemptAt: string | null, queuedAt: string, diagnostic: string | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type ScheduledEmailsQueryVariables = Exact<{
  after?: string | null | undefined;
}>;


export type ScheduledEmailsQuery = { scheduledEmails: { nodes: Array<{ id: string, from: string, to: Array<string>, subject: string, scheduledAt: string | null, createdAt: string }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type QueueRetryMutationVariables = Exact<{
  selection: QueueSelection;
  dryRun: boolean;
}>;


export type QueueRetryMutation = { retryDelivery: { matched: number, changed: number } };

export type QueueHoldMutationVariables = Exact<{
  selection: QueueSelection;
  dryRun: boolean;
}>;


export type QueueHoldMutation = { holdDelivery: { matched: number, changed: number } };

export type QueueReleaseMutationVariables = Exact<{
  selection: QueueSelection;
  dryRun: boolean;
}>;


export type QueueReleaseMutation = { releaseDelivery: { matched: number, changed: number } };

export type QueueDropMutationVariables = Exact<{
  selection: QueueSelection;
  reason: string;
  dryRun: boolean;
}>;


export type QueueDropMutation = { dropDelivery: { matched: number, changed: number } };

export const QueueBacklogs = gql<QueueBacklogsQuery, QueueBacklogsQueryVariables>('QueueBacklogs', 'f90b8d9fed30fd0ba23c83a4151ec342246dded3713869acc4ca3e7d9077a4e1', import.meta.env.DEV ? "query QueueBacklogs {\n  queueByDestination {\n    destination\n    total\n    due\n    running\n    parked\n    deferred\n    held\n    oldestAgeSeconds\n    diagnostic\n  }\n}" : undefined)
export const QueueRecipients = gql<QueueRecipientsQuery, QueueRecipientsQueryVariables>('QueueRecipients', 'b1709d3273d72bd126da83876a7d6bb2469416dc84f2718b8a88106748bdb4dd', import.meta.env.DEV ? "query QueueRecipients($after: String, $filter: QueueFilter) {\n  queue(first: 50, after: $after, filter: $filter) {\n    nodes {\n      id\n      emailId\n      address\n      destination\n      state\n      running\n      attempts\n      nextAttemptAt\n      queuedAt\n      diagnostic\n    }\n    pageInfo {\n      hasNextPage\n      endCursor\n    }\n  }\n}" : undefined)
export const ScheduledEmails = gql<ScheduledEmailsQuery, ScheduledEmailsQueryVariables>('ScheduledEmails', 'df58e59de5f70c38bc66a113ed6d77e8053cad8fd1f33aa32c4045fc2112140b', import.meta.env.DEV ? "query ScheduledEmails($after: String) {\n  scheduledEmails(first: 50, after: $after) {\n    nodes {\n      id\n      from\n      to\n      subject\n      scheduledAt\n      createdAt\n    }\n    pageInfo {\n      hasNextPage\n      endCursor\n    }\n  }\n}" : undefined)
export const QueueRetry = gql<QueueRetryMutation, QueueRetryMutationVariables>('QueueRetry', '3b36c96705191f80e40a9fcbe4754c8ccc80aa7df08d3e0c50e59d2820594e64', import.meta.env.DEV ? "mutation QueueRetry($selection: QueueSelection!, $dryRun: Boolean!) {\n  retryDelivery(selection: $selection, dryRun: $dryRun) {\n    matched\n    changed\n  }\n}" : undefined)
export const QueueHold = gql<QueueHoldMutation, QueueHoldMutationVariables>('QueueHold', '445c14b12fffbb137be142341d3688a08df47067d39f5e2fd60b32db6e8ae2f5', import.meta.env.DEV ? "mutation QueueHold($selection: QueueSelection!, $dryRun: Boolean!) {\n  holdDelivery(selection: $selection, dryRun: $dryRun) {\n    matched\n    changed\n  }\n}" : undefined)
export const QueueRelease = gql<QueueReleaseMutation, QueueReleaseMutationVariables>('QueueRelease', '6848742a6e31406d5ca1be1f0992d0b712b8cc138165cb45c8fc85dc3efc46b6', import.meta.env.DEV ? "mutation QueueRelease($selection: QueueSelection!, $dryRun: Boolean!) {\n  releaseDelivery(selection: $selection, dryRun: $dryRun) {\n    matched\n    changed\n  }\n}" : undefined)
export const QueueDrop = gql<QueueDropMutation, QueueDropMutationVariables>('QueueDrop', '6d14a88d8c3054c78aa29f6920aa28e376331491aee72f647cccb27278a5de43', import.meta.env.DEV ? "mutation QueueDrop($selection: QueueSelection!, $reason: String!, $dryRun: Boolean!) {\n  dropDelivery(selection: $selection, reason: $reason, dryRun: $dryRun) {\n    matched\n    changed\n  }\n}" : undefined)
