// Written by `npm run codegen`; do not edit.
import { gql } from '@/api/document'

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Filters the audit log. Omitted fields do not filter. */
export type AuditLogFilter = {
  /** Matches entries of the actor with this ID. */
  actor?: string | null | undefined;
  /** Matches entries about the object with this ID. */
  target?: string | null | undefined;
  /** Matches an action, or its prefix up to a dot: `member` matches `member.removed`. */
  action?: string | null | undefined;
  /** Matches entries created in this time range. */
  createdAt?: DateTimeFilter | null | undefined;
  /** Search text. An ID matches entries of that actor or object; other words match parts of names, actions and changes in the newest 10,000 entries. Accepts the fields `by:`, `on:`, `action:`, `after:` and `before:`. At most 200 characters and 10 words. */
  query?: string | null | undefined;
};

/** A kind of actor. */
export type AuditActorKind =
  /** A signed-in user. */
  | 'USER'
  /** An API key. */
  | 'KEY'
  /** An operator, or an operator key. */
  | 'OPERATOR'
  /** The service itself. */
  | 'SYSTEM';

/** A time range. Both ends are optional. */
export type DateTimeFilter = {
  /** Start of the range, inclusive. */
  gte?: string | null | undefined;
  /** End of the range, exclusive. */
  lt?: string | null | undefined;
};

export type AuditEntriesQueryVariables = Exact<{
  after?: string | null | undefined;
  filter?: AuditLogFilter | null | undefined;
}>;


export type AuditEntriesQuery = { auditLog: { nodes: Array<{ id: string, action: string, target: string, changes: unknown, ip: string, userAgent: string, requestId: string, createdAt: string, actor: { kind: AuditActorKind, id: string, name: string } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export const AuditEntries = gql<AuditEntriesQuery, AuditEntriesQueryVariables>('AuditEntries', '77f9a0d7a5e43f58f861f8463337273334dd6e21359565ab0a5f24a711cf7b0e', import.meta.env.DEV ? "query AuditEntries($after: String, $filter: AuditLogFilter) {\n  auditLog(first: 50, after: $after, filter: $filter) {\n    nodes {\n      id\n      actor {\n        kind\n        id\n        name\n      }\n      action\n      target\n      changes\n      ip\n      userAgent\n      requestId\n      createdAt\n    }\n    pageInfo {\n      hasNextPage\n      endCursor\n    }\n  }\n}" : undefined)
