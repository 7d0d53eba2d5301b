// Written by `npm run codegen`; do not edit.
import { gql } from '@/api/document'

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** The status of a domain. */
export type DomainStatus =
  /** Records are missing. The domain cannot send yet. */
  | 'PENDING'
  /** All required records were found. The domain can send. */
  | 'VERIFIED'
  /** The domain was verified, but records broke. It can still send for 72 hours. */
  | 'TEMPORARY_FAILURE'
  /** The records stayed broken. The domain can no longer send. */
  | 'FAILED';

/** The severity of a finding. */
export type HealthLevel =
  /** The problem causes mail to be lost, refused or not accepted. */
  | 'ERROR'
  /** Everything works, but something is at risk or will break. */
  | 'WARNING'
  /** A hint. */
  | 'NOTICE';

/** How TLS starts. */
export type SmtpCredentialTls =
  /** The client sends the STARTTLS command. */
  | 'STARTTLS'
  /** The connection uses TLS from the first byte. */
  | 'IMPLICIT';

export type StartEmailsQueryVariables = Exact<{ [key: string]: never; }>;


export type StartEmailsQuery = { emails: { nodes: Array<{ id: string, to: Array<string>, createdAt: string }> } };

export type StartBouncedQueryVariables = Exact<{ [key: string]: never; }>;


export type StartBouncedQuery = { emails: { nodes: Array<{ id: string }> } };

export type StartSmtpQueryVariables = Exact<{ [key: string]: never; }>;


export type StartSmtpQuery = { smtpCredentials: { nodes: Array<{ host: string, port: number, tls: SmtpCredentialTls, username: string }> } };

export type StartDomainsQueryVariables = Exact<{ [key: string]: never; }>;


export type StartDomainsQuery = { domains: { nodes: Array<{ id: string, name: string, status: DomainStatus }> } };

export type StartWebhooksQueryVariables = Exact<{ [key: string]: never; }>;


export type StartWebhooksQuery = { webhooks: { nodes: Array<{ id: string, url: string }> } };

export type StartHealthQueryVariables = Exact<{ [key: string]: never; }>;


export type StartHealthQuery = { health: { findings: Array<FindingFragment>, installation: Array<FindingFragment> | null } };

export type FindingFragment = { code: string, level: HealthLevel, found: string, expected: string, do: string, subjectId: string | null };

export type StartFiguresQueryVariables = Exact<{
  before: string;
  gte: string;
  lt: string;
  timezone: string;
}>;


export type StartFiguresQuery = { previous: { totals: { accepted: number, delivered: number, bounced: number, complained: number, opened: number, recipients: number } }, emailStatistics: { totals: { accepted: number, delivered: number, bounced: number, complained: number, opened: number, recipients: number }, buckets: Array<{ start: string, figures: { accepted: number, bounced: number } }> } };

export type StartEndpointsQueryVariables = Exact<{
  gte: string;
  lt: string;
}>;


export type StartEndpointsQuery = { webhookStatistics: { endpoints: Array<{ webhook: { id: string, url: string, enabled: boolean }, figures: StartCountsFragment }> } };

export type StartCountsFragment = { deliveries: number, succeeded: number, failed: number, attempts: number };

export type StartFailedRunsQueryVariables = Exact<{
  gte: string;
}>;


export type StartFailedRunsQuery = { automationRuns: { nodes: Array<{ id: string, error: string | null }>, count: { value: number } } | null };

export const StartEmails = gql<StartEmailsQuery, StartEmailsQueryVariables>('StartEmails', 'a9b53a4850899e5dca6527fc6e9b358b9a2e05ffd2ee0ad1b444bb14696d0908', import.meta.env.DEV ? "query StartEmails {\n  emails(first: 1) {\n    nodes {\n      id\n      to\n      createdAt\n    }\n  }\n}" : undefined)
export const StartBounced = gql<StartBouncedQuery, StartBouncedQueryVariables>('StartBounced', 'a7ef2f372ab4ec4d3b252f6a4ca3c50522674838bd3101202dfbdd036e088ee9', import.meta.env.DEV ? "query StartBounced {\n  emails(first: 1, filter: {status: BOUNCED}) {\n    nodes {\n      id\n    }\n  }\n}" : undefined)
export const StartSmtp = gql<StartSmtpQuery, StartSmtpQueryVariables>('StartSmtp', 'acc65c52d21dc660854bb12b89f343e140fa11c54f9daf69a2be56686a25bd0d', import.meta.env.DEV ? "query StartSmtp {\n  smtpCredentials(first: 1) {\n    nodes {\n      host\n      port\n      tls\n      username\n    }\n  }\n}" : undefined)
export const StartDomains = gql<StartDomainsQuery, StartDomainsQueryVariables>('StartDomains', '22e8cf652c766ccd9b98c1fce059c17e0f7886de95267e67b16dbf9d3859ac67', import.meta.env.DEV ? "query StartDomains {\n  domains(first: 25) {\n    nodes {\n      id\n      name\n      status\n    }\n  }\n}" : undefined)
export const StartWebhooks = gql<StartWebhooksQuery, StartWebhooksQueryVariables>('StartWebhooks', 'e747254cc74eafe09c16457319a6d64b6be9b3cd0afb4968044282021f7feed2', import.meta.env.DEV ? "query StartWebhooks {\n  webhooks(first: 1) {\n    nodes {\n      id\n      url\n    }\n  }\n}" : undefined)
export const StartHealth = gql<StartHealthQuery, StartHealthQueryVariables>('StartHealth', '80b11d7f4f884b7b17c2a3ebbecf873ba1855bcf8bb56cdff6a0993decf1edf0', import.meta.env.DEV ? "query StartHealth {\n  health {\n    findings {\n      ...Finding\n    }\n    installation {\n      ...Finding\n    }\n  }\n}\n\nfragment Finding on HealthFinding {\n  code\n  level\n  found\n  expected\n  do\n  subjectId\n}" : undefined)
export const StartFigures = gql<StartFiguresQuery, StartFiguresQueryVariables>('StartFigures', 'c75a713eca8b742cf0402428a45f5f6b99fa6a36cb19798a134aeaf2a075695d', import.meta.env.DEV ? "query StartFigures($before: DateTime!, $gte: DateTime!, $lt: DateTime!, $timezone: String!) {\n  previous: emailStatistics(\n    range: {gte: $before, lt: $gte}\n    interval: HOUR\n    timezone: $timezone\n  ) {\n    totals {\n      accepted\n      delivered\n      bounced\n      complained\n      opened\n      recipients\n    }\n  }\n  emailStatistics(\n    range: {gte: $gte, lt: $lt}\n    interval: HOUR\n    timezone: $timezone\n  ) {\n    totals {\n      accepted\n      delivered\n      bounced\n      complained\n      opened\n      recipients\n    }\n    buckets {\n      start\n      figures {\n        accepted\n        bounced\n      }\n    }\n  }\n}" : undefined)
export const StartEndpoints = gql<StartEndpointsQuery, StartEndpointsQueryVariables>('StartEndpoints', '27af0f2522a0cecfd344a1edbf92443ac1491aabfcc9ba3ecb9c8e82610bc54e', import.meta.env.DEV ? "query StartEndpoints($gte: DateTime!, $lt: DateTime!) {\n  webhookStatistics(range: {gte: $gte, lt: $lt}, interval: DAY, timezone: \"UTC\") {\n    endpoints {\n      webhook {\n        id\n        url\n        enabled\n      }\n      figures {\n        ...StartCounts\n      }\n    }\n  }\n}\n\nfragment StartCounts on WebhookFigures {\n  deliveries\n  succeeded\n  failed\n  attempts\n}" : undefined)
export const StartFailedRuns = gql<StartFailedRunsQuery, StartFailedRunsQueryVariables>('StartFailedRuns', '6ba276c40037db4ad45efc8f7a41160941fe37d62cfcdf801e241c0b3fb63c61', import.meta.env.DEV ? "query StartFailedRuns($gte: DateTime!) {\n  automationRuns(first: 1, filter: {status: FAILED, startedAt: {gte: $gte}}) {\n    nodes {\n      id\n      error\n    }\n    count(limit: 1000) {\n      value\n    }\n  }\n}" : undefined)
