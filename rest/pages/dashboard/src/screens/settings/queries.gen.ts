// Written by `npm run codegen`; do not edit.
import { gql } from '@/api/document'

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
export type AccountSettingsQueryVariables = Exact<{ [key: string]: never; }>;


export type AccountSettingsQuery = { account: { id: string, name: string, email: string, bodyRetentionDays: number, recordRetentionDays: number, productionUnlocked: boolean, suspended: boolean, plan: { name: string } } };

export type ErasedYetQueryVariables = Exact<{
  email: string;
}>;


export type ErasedYetQuery = { emails: { count: { value: number } } };

export const AccountSettings = gql<AccountSettingsQuery, AccountSettingsQueryVariables>('AccountSettings', '9945f62fcd4c4a062e78de8d999e6d9af37646c0abea70c355b9906f3992c5c0', import.meta.env.DEV ? "query AccountSettings {\n  account {\n    id\n    name\n    email\n    bodyRetentionDays\n    recordRetentionDays\n    productionUnlocked\n    suspended\n    plan {\n      name\n    }\n  }\n}" : undefined)
export const ErasedYet = gql<ErasedYetQuery, ErasedYetQueryVariables>('ErasedYet', 'a444fb98ae9a2f333763cde9c5f411813277810f42cf48537ca975bb87a8b5a4', import.meta.env.DEV ? "query ErasedYet($email: String!) {\n  emails(first: 1, filter: {to: $email}) {\n    count(limit: 10000) {\n      value\n    }\n  }\n}" : undefined)
