// Written by `npm run codegen`; do not edit.
import { gql } from '@/api/document'

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** The role of a member in an account. */
export type Role =
  /** Allows everything. */
  | 'OWNER'
  /** Allows everything except changes to owners and billing. */
  | 'ADMIN'
  /** Allows the same as an API key with scope `full`. */
  | 'DEVELOPER'
  /** Allows access to the plan, usage and invoices. */
  | 'BILLING'
  /** Allows reading. */
  | 'VIEWER';

export type TeamMembersQueryVariables = Exact<{
  after?: string | null | undefined;
}>;


export type TeamMembersQuery = { members: { nodes: Array<{ role: Role, joinedAt: string, user: { id: string, email: string, name: string } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type TeamInvitationsQueryVariables = Exact<{
  after?: string | null | undefined;
}>;


export type TeamInvitationsQuery = { invitations: { nodes: Array<{ id: string, email: string, role: Role, invitedBy: string | null, createdAt: string, expiresAt: string }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export const TeamMembers = gql<TeamMembersQuery, TeamMembersQueryVariables>('TeamMembers', '57f7de9f9b1ace9374c650006d207c807557ce59f4d64c699b998807278c5368', import.meta.env.DEV ? "query TeamMembers($after: String) {\n  members(first: 100, after: $after) {\n    nodes {\n      user {\n        id\n        email\n        name\n      }\n      role\n      joinedAt\n    }\n    pageInfo {\n      hasNextPage\n      endCursor\n    }\n  }\n}" : undefined)
export const TeamInvitations = gql<TeamInvitationsQuery, TeamInvitationsQueryVariables>('TeamInvitations', '22a3111ab75f550708baf4b406678c195855cf6fa6d38bea7f7df0e4696764a5', import.meta.env.DEV ? "query TeamInvitations($after: String) {\n  invitations(first: 100, after: $after) {\n    nodes {\n      id\n      email\n      role\n      invitedBy\n      createdAt\n      expiresAt\n    }\n    pageInfo {\n      hasNextPage\n      endCursor\n    }\n  }\n}" : undefined)
