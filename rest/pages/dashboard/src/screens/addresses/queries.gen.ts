// Written by `npm run codegen`; do not edit.
import { gql } from '@/api/document'

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
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

export type AddressEmailsQueryVariables = Exact<{
  q: string;
}>;


export type AddressEmailsQuery = { emails: { nodes: Array<{ id: string, subject: string, status: EmailStatus, lastEvent: string, createdAt: string }>, count: { value: number, isExact: boolean } } };

export type AddressSuppressionQueryVariables = Exact<{
  email: string;
}>;


export type AddressSuppressionQuery = { suppressions: { nodes: Array<{ id: string, reason: SuppressionReason, emailId: string | null, createdAt: string }> }, categoryOptOuts: { nodes: Array<{ id: string, categoryLabel: string, source: string, createdAt: string }> } };

export type AddressReceivedQueryVariables = Exact<{
  email: string;
}>;


export type AddressReceivedQuery = { receivedEmails: { nodes: Array<{ id: string, subject: string, receivedAt: string }>, count: { value: number, isExact: boolean } } };

export type AddressEventsQueryVariables = Exact<{
  email: string;
}>;


export type AddressEventsQuery = { customEvents: { nodes: Array<{ id: string, name: string, createdAt: string }>, count: { value: number, isExact: boolean } }, automationRuns: { nodes: Array<{ id: string, automationId: string, status: AutomationRunStatus, error: string | null, startedAt: string }>, count: { value: number, isExact: boolean } } | null };

export const AddressEmails = gql<AddressEmailsQuery, AddressEmailsQueryVariables>('AddressEmails', 'aa9544bea5e5d958028b2311ea1a9ddab8d19f303c5c7c7e5800289b1c5f7b5b', import.meta.env.DEV ? "query AddressEmails($q: String!) {\n  emails(first: 10, filter: {query: $q}) {\n    nodes {\n      id\n      subject\n      status\n      lastEvent\n      createdAt\n    }\n    count(limit: 1000) {\n      value\n      isExact\n    }\n  }\n}" : undefined)
export const AddressSuppression = gql<AddressSuppressionQuery, AddressSuppressionQueryVariables>('AddressSuppression', '0426d894189bfa501a1608cf300543d45bcc45aec35b4451e1a4ce283861a68d', import.meta.env.DEV ? "query AddressSuppression($email: String!) {\n  suppressions(first: 1, filter: {email: $email}) {\n    nodes {\n      id\n      reason\n      emailId\n      createdAt\n    }\n  }\n  categoryOptOuts(first: 100, filter: {email: $email}) {\n    nodes {\n      id\n      categoryLabel\n      source\n      createdAt\n    }\n  }\n}" : undefined)
export const AddressReceived = gql<AddressReceivedQuery, AddressReceivedQueryVariables>('AddressReceived', '39e92498abacfde4f30f7877acc5239671459c3985be4602e40330f33a95e576', import.meta.env.DEV ? "query AddressReceived($email: String!) {\n  receivedEmails(first: 10, filter: {from: $email}) {\n    nodes {\n      id\n      subject\n      receivedAt\n    }\n    count(limit: 1000) {\n      value\n      isExact\n    }\n  }\n}" : undefined)
export const AddressEvents = gql<AddressEventsQuery, AddressEventsQueryVariables>('AddressEvents', '4c9cb41f0435e5d9728417daecd66a0e3228533e294ac9b0e645f66bad7c714a', import.meta.env.DEV ? "query AddressEvents($email: String!) {\n  customEvents(first: 10, filter: {email: $email}) {\n    nodes {\n      id\n      name\n      createdAt\n    }\n    count(limit: 1000) {\n      value\n      isExact\n    }\n  }\n  automationRuns(first: 10, filter: {email: $email}) {\n    nodes {\n      id\n      automationId\n      status\n      error\n      startedAt\n    }\n    count(limit: 1000) {\n      value\n      isExact\n    }\n  }\n}" : undefined)
