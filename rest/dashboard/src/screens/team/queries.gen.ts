// Written by `npm run codegen`; do not edit.
import { gql } from '@/api/document'

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** What a member of an account may do. */
export type Role =
  /** Everything. */
  | 'OWNER'
  /** All but what touches owners and money. */
  | 'ADMIN'
  /** What API keys of the scope full do. */
  | 'DEVELOPER'
  /** Plan, usage, invoices. */
  | 'BILLING'
  /** Read. */
  | 'VIEWER';

export type TeamMembersQueryVariables = Exact<{ [key: string]: never; }>;


export type TeamMembersQuery = { members: { nodes: Array<{ role: Role, joinedAt: string, user: { id: string, email: string, name: string } }> } };

export type TeamInvitationsQueryVariables = Exact<{ [key: string]: never; }>;


export type TeamInvitationsQuery = { invitations: { nodes: Array<{ id: string, email: string, role: Role, invitedBy: string | null, createdAt: string, expiresAt: string }> } };

export const TeamMembers = gql<TeamMembersQuery, TeamMembersQueryVariables>('TeamMembers', '4d3358cd8c24028c15a648d4375ff19be58a12f2fdca9c5c46ca462f9f3cbaa7', import.meta.env.DEV ? "query TeamMembers {\n  members {\n    nodes {\n      user {\n        id\n        email\n        name\n      }\n      role\n      joinedAt\n    }\n  }\n}" : undefined)
export const TeamInvitations = gql<TeamInvitationsQuery, TeamInvitationsQueryVariables>('TeamInvitations', '1bcb9f34be62b9843c3af9e00841752864797b0af6a60e8e28ac862dd791699a', import.meta.env.DEV ? "query TeamInvitations {\n  invitations {\n    nodes {\n      id\n      email\n      role\n      invitedBy\n      createdAt\n      expiresAt\n    }\n  }\n}" : undefined)
