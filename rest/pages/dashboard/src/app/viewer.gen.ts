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

/** A right to perform a kind of operation. */
export type Right =
  /** Allows changing the resources of the account. */
  | 'WRITE'
  /** Allows reading everything except emails and events. */
  | 'READ'
  /** Allows reading emails and events. */
  | 'READ_SENT'
  /** Allows sending emails and events. */
  | 'SEND'
  /** Allows reading the account itself. */
  | 'READ_ACCOUNT'
  /** Allows changing the account itself. */
  | 'SETTINGS'
  /** Allows managing the members of the account, except owners. */
  | 'TEAM'
  /** Allows reading the plan, usage and invoices. */
  | 'READ_BILLING'
  /** Allows changing the plan, payment method and limits. */
  | 'BILLING'
  /** Allows managing owners. */
  | 'OWN'
  /** Allows users to change their own profile, sessions and factors. */
  | 'PERSON';

export type ViewerQueryVariables = Exact<{ [key: string]: never; }>;


export type ViewerQuery = { viewer: { role: Role | null, can: Array<Right>, operator: boolean, modules: Array<string>, user: { id: string, email: string, name: string } | null, account: { id: string, name: string, email: string, suspended: boolean, productionUnlocked: boolean, plan: { id: string, name: string } } | null, moved: { accountId: string, name: string, movedTo: string | null } | null, accounts: Array<{ accountId: string, name: string, role: Role, movedTo: string | null }> } };

export const Viewer = gql<ViewerQuery, ViewerQueryVariables>('Viewer', 'b2b0729f903c12c3347eab49d7098e0092e54e33fdfb887ea4faf95354e41d35', import.meta.env.DEV ? "query Viewer {\n  viewer {\n    user {\n      id\n      email\n      name\n    }\n    account {\n      id\n      name\n      email\n      plan {\n        id\n        name\n      }\n      suspended\n      productionUnlocked\n    }\n    moved {\n      accountId\n      name\n      movedTo\n    }\n    role\n    can\n    operator\n    modules\n    accounts {\n      accountId\n      name\n      role\n      movedTo\n    }\n  }\n}" : undefined)
