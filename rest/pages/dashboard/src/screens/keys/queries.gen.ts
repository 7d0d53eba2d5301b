// Written by `npm run codegen`; do not edit.
import { gql } from '@/api/document'

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** The mode of an API key. */
export type ApiKeyMode =
  /** Emails are sent. */
  | 'LIVE'
  /** Emails are captured. */
  | 'TEST';

/** The operations that an API key allows. */
export type ApiKeyScope =
  /** Allows everything. */
  | 'FULL'
  /** Allows sending emails and events, and reading them. */
  | 'SENDING'
  /** Allows reading everything except API keys. */
  | 'READ';

/** The mode of an SMTP credential. */
export type SmtpCredentialMode =
  /** Emails are sent. */
  | 'LIVE'
  /** Emails are captured. */
  | 'TEST';

/** How TLS starts. */
export type SmtpCredentialTls =
  /** The client sends the STARTTLS command. */
  | 'STARTTLS'
  /** The connection uses TLS from the first byte. */
  | 'IMPLICIT';

export type ApiKeyListQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type ApiKeyListQuery = { apiKeys: { nodes: Array<ApiKeyRowFragment>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type ApiKeyRowFragment = { id: string, name: string, prefix: string, mode: ApiKeyMode, scope: ApiKeyScope, permissions: Array<string>, domainIds: Array<string>, allowedIps: Array<string>, expiresAt: string | null, lastUsedAt: string | null, lastUsedIp: string | null, createdAt: string, revokedAt: string | null };

export type ApiKeyDetailQueryVariables = Exact<{
  id: string;
}>;


export type ApiKeyDetailQuery = { apiKey: ApiKeyRowFragment | null };

export type SmtpCredentialListQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type SmtpCredentialListQuery = { smtpCredentials: { nodes: Array<SmtpCredentialRowFragment>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type SmtpCredentialRowFragment = { id: string, name: string, mode: SmtpCredentialMode, username: string, host: string, port: number, tls: SmtpCredentialTls, domainIds: Array<string>, lastUsedAt: string | null, createdAt: string, revokedAt: string | null };

export type KeyDomainsQueryVariables = Exact<{ [key: string]: never; }>;


export type KeyDomainsQuery = { domains: { nodes: Array<{ id: string, name: string }> } };

export const ApiKeyList = gql<ApiKeyListQuery, ApiKeyListQueryVariables>('ApiKeyList', 'ffb1cf90547ff8259aaee0a35c9fe16518ff576bf47c310af0a203c2a2b5c621', import.meta.env.DEV ? "query ApiKeyList($first: Int, $after: String) {\n  apiKeys(first: $first, after: $after) {\n    nodes {\n      ...ApiKeyRow\n    }\n    pageInfo {\n      hasNextPage\n      endCursor\n    }\n  }\n}\n\nfragment ApiKeyRow on APIKey {\n  id\n  name\n  prefix\n  mode\n  scope\n  permissions\n  domainIds\n  allowedIps\n  expiresAt\n  lastUsedAt\n  lastUsedIp\n  createdAt\n  revokedAt\n}" : undefined)
export const ApiKeyDetail = gql<ApiKeyDetailQuery, ApiKeyDetailQueryVariables>('ApiKeyDetail', 'c47d47644646500f3c82f8dc3378551831919424d9f66889fdee03c40a17c3ec', import.meta.env.DEV ? "query ApiKeyDetail($id: ID!) {\n  apiKey(id: $id) {\n    ...ApiKeyRow\n  }\n}\n\nfragment ApiKeyRow on APIKey {\n  id\n  name\n  prefix\n  mode\n  scope\n  permissions\n  domainIds\n  allowedIps\n  expiresAt\n  lastUsedAt\n  lastUsedIp\n  createdAt\n  revokedAt\n}" : undefined)
export const SmtpCredentialList = gql<SmtpCredentialListQuery, SmtpCredentialListQueryVariables>('SmtpCredentialList', '5f342ea74e9094efce24f222f4f7fcf15fdbc49ece5331ec2782b37557f43db7', import.meta.env.DEV ? "query SmtpCredentialList($first: Int, $after: String) {\n  smtpCredentials(first: $first, after: $after) {\n    nodes {\n      ...SmtpCredentialRow\n    }\n    pageInfo {\n      hasNextPage\n      endCursor\n    }\n  }\n}\n\nfragment SmtpCredentialRow on SMTPCredential {\n  id\n  name\n  mode\n  username\n  host\n  port\n  tls\n  domainIds\n  lastUsedAt\n  createdAt\n  revokedAt\n}" : undefined)
export const KeyDomains = gql<KeyDomainsQuery, KeyDomainsQueryVariables>('KeyDomains', '543ce3be067366a9fc777d9dda887fc0f2a438c87a59203db70f6985e75451e2', import.meta.env.DEV ? "query KeyDomains {\n  domains(first: 100) {\n    nodes {\n      id\n      name\n    }\n  }\n}" : undefined)
