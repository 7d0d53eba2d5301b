// Written by `npm run codegen`; do not edit.
import { gql } from '@/api/document'

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Which entries of the audit log. */
export type AuditLogFilter = {
  /** Id of who did it. */
  actor?: string | null | undefined;
  /** An action, or its beginning up to a dot: `member` finds `member.removed`. */
  action?: string | null | undefined;
  /** When it was. */
  createdAt?: DateTimeFilter | null | undefined;
};

/** What an actor is. */
export type AuditActorKind =
  /** A person who was signed in. */
  | 'USER'
  /** An API key. */
  | 'KEY'
  /** The operator, at the command line. */
  | 'OPERATOR'
  /** The service itself. */
  | 'SYSTEM';

/** A stretch of time. Both ends may be left out. */
export type DateTimeFilter = {
  /** At this time or later. */
  gte?: string | null | undefined;
  /** Before this time. */
  lt?: string | null | undefined;
};

export type AuditEntriesQueryVariables = Exact<{
  after?: string | null | undefined;
  filter?: AuditLogFilter | null | undefined;
}>;


export type AuditEntriesQuery = { auditLog: { nodes: Array<{ id: string, action: string, target: string, changes: unknown, ip: string, userAgent: string, requestId: string, createdAt: string, actor: { kind: AuditActorKind, id: string, name: string } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export const AuditEntries = gql<AuditEntriesQuery, AuditEntriesQueryVariables>('AuditEntries', '77f9a0d7a5e43f58f861f8463337273334dd6e21359565ab0a5f24a711cf7b0e', import.meta.env.DEV ? "query AuditEntries($after: String, $filter: AuditLogFilter) {\n  auditLog(first: 50, after: $after, filter: $filter) {\n    nodes {\n      id\n      actor {\n        kind\n        id\n        name\n      }\n      action\n      target\n      changes\n      ip\n      userAgent\n      requestId\n      createdAt\n    }\n    pageInfo {\n      hasNextPage\n      endCursor\n    }\n  }\n}" : undefined)
