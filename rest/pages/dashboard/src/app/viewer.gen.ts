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

/** A kind of operation. */
export type Right =
  /** Changes what the account has. */
  | 'WRITE'
  /** Reads anything but emails and events. */
  | 'READ'
  /** Reads emails and events. */
  | 'READ_SENT'
  /** Sends emails and events. */
  | 'SEND'
  /** Reads the account itself. */
  | 'READ_ACCOUNT'
  /** Changes the account itself. */
  | 'SETTINGS'
  /** Decides who belongs to the account, below its owners. */
  | 'TEAM'
  /** Reads plan, usage and invoices. */
  | 'READ_BILLING'
  /** Changes plan, payment method and limits. */
  | 'BILLING'
  /** Decides about owners. */
  | 'OWN'
  /** Changes their own profile, sessions and factors. */
  | 'PERSON';

export type ViewerQueryVariables = Exact<{ [key: string]: never; }>;


export type ViewerQuery = { viewer: { role: Role | null, can: Array<Right>, operator: boolean, modules: Array<string>, user: { id: string, email: string, name: string } | null, account: { id: string, name: string, email: string, suspended: boolean, productionUnlocked: boolean, plan: { id: string, name: string } } | null, accounts: Array<{ accountId: string, name: string, role: Role }> } };

export const Viewer = gql<ViewerQuery, ViewerQueryVariables>('Viewer', '4fa5bd5594d4cfe1657b49bc796c57ef38effd27386507ae84e1aa97487e75ea', import.meta.env.DEV ? "query Viewer {\n  viewer {\n    user {\n      id\n      email\n      name\n    }\n    account {\n      id\n      name\n      email\n      plan {\n        id\n        name\n      }\n      suspended\n      productionUnlocked\n    }\n    role\n    can\n    operator\n    modules\n    accounts {\n      accountId\n      name\n      role\n    }\n  }\n}" : undefined)
