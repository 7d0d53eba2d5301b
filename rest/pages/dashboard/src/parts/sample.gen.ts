// Written by `npm run codegen`; do not edit.
import { gql } from '@/api/document'

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
export type SampleSenderQueryVariables = Exact<{ [key: string]: never; }>;


export type SampleSenderQuery = { account: { email: string, productionUnlocked: boolean, sandboxDomain: string }, domains: { nodes: Array<{ name: string }> } };

export const SampleSender = gql<SampleSenderQuery, SampleSenderQueryVariables>('SampleSender', '01e848a45595aeac87bac1469ad5de4a91973679d5597ff7a91c7ebcdcf4b75c', import.meta.env.DEV ? "query SampleSender {\n  account {\n    email\n    productionUnlocked\n    sandboxDomain\n  }\n  domains(first: 1, filter: {status: VERIFIED}) {\n    nodes {\n      name\n    }\n  }\n}" : undefined)
