// Written by `npm run codegen`; do not edit.
import { gql } from '@/api/document'

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** The status of an email. */
export type EmailStatus =
  /** Released, and delivery is about to start. Emails of a suspended account also have this status. */
  | 'QUEUED'
  /** Waiting for its scheduled time. */
  | 'SCHEDULED'
  /** Accepted, and delivery is in progress. */
  | 'SENT'
  /** Accepted by every recipient's server. */
  | 'DELIVERED'
  /** Permanently refused by a recipient's server, or retries ran out. */
  | 'BOUNCED'
  /** Another reason prevents delivery. */
  | 'FAILED'
  /** Cancelled before its scheduled time. */
  | 'CANCELLED';

/** The field of the request that listed a recipient. */
export type RecipientKind =
  /** Listed in `to`. */
  | 'TO'
  /** Listed in `cc`. */
  | 'CC'
  /** Listed in `bcc`. */
  | 'BCC';

/** The delivery state of a recipient. */
export type RecipientState =
  /** Not attempted yet. If `settledAt` is set, the email was cancelled before its scheduled time. */
  | 'QUEUED'
  /** Temporarily refused, will be retried. */
  | 'DEFERRED'
  /** Accepted by the recipient's server. */
  | 'DELIVERED'
  /** Permanently refused, or retries ran out. */
  | 'BOUNCED'
  /** Another reason prevents delivery. */
  | 'FAILED';

/** How a delivery attempt ended. */
export type AttemptOutcome =
  /** The server accepted the message. */
  | 'DELIVERED'
  /** The server asked to retry later, or could not be reached. */
  | 'DEFERRED'
  /** The server permanently refused the message. */
  | 'BOUNCED'
  /** Another reason prevented delivery. */
  | 'FAILED'
  /** The whole message was sent but no reply arrived, or the service was interrupted during the attempt. */
  | 'UNKNOWN'
  /** The service was interrupted before the message was sent. */
  | 'NOT_STARTED';

/** The reason for a suppression. */
export type SuppressionReason =
  /** A receiving server refused the address, or retries ran out. */
  | 'BOUNCE'
  /** The address cannot receive mail: its domain does not exist or accepts no mail. */
  | 'FAILURE'
  /** The recipient marked a message as spam. */
  | 'COMPLAINT'
  /** The recipient unsubscribed from all mail. */
  | 'UNSUBSCRIBE'
  /** The address was added through the API. */
  | 'MANUAL';

/** A kind of engagement with an email. */
export type EngagementKind =
  /** The open pixel was loaded. */
  | 'OPEN'
  /** A tracked link was used. */
  | 'CLICK';

/** The state of a delivery. */
export type WebhookDeliveryState =
  /** An attempt is due or in progress. */
  | 'PENDING'
  /** The endpoint answered 2xx. */
  | 'DELIVERED'
  /** All attempts failed, or no attempt could succeed. */
  | 'FAILED';

export type EmailListQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
  q?: string | null | undefined;
}>;


export type EmailListQuery = { emails: { nodes: Array<EmailLineFragment>, pageInfo: { hasNextPage: boolean, endCursor: string | null, hasPreviousPage: boolean, startCursor: string | null } } };

export type ScheduledListQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type ScheduledListQuery = { scheduledEmails: { nodes: Array<EmailLineFragment>, pageInfo: { hasNextPage: boolean, endCursor: string | null, hasPreviousPage: boolean, startCursor: string | null } } };

export type EmailRowsQueryVariables = Exact<{
  ids: Array<string> | string;
}>;


export type EmailRowsQuery = { nodes: Array<
    | EmailLineFragment
    | Record<PropertyKey, never>
   | null> };

export type EmailLineFragment = (
  { snippet: string | null }
  & EmailRowFragment
);

export type EmailRowFragment = { id: string, to: Array<string>, subject: string, status: EmailStatus, lastEvent: string, createdAt: string, scheduledAt: string | null, domain: { name: string } | null, apiKey: { id: string, name: string } | null, tags: Array<{ name: string, value: string }> };

export type EmailDetailQueryVariables = Exact<{
  id: string;
}>;


export type EmailDetailQuery = { email: (
    { from: string, cc: Array<string>, bcc: Array<string>, replyTo: Array<string>, bounceReason: string | null, messageId: string, expiresAt: string | null, cancelledAt: string | null, sentAt: string | null, deliveredAt: string | null, bouncedAt: string | null, recipients: Array<{ address: string, kind: RecipientKind, state: RecipientState, attempts: number, code: number | null, enhancedCode: string | null, diagnostic: string | null, remoteMta: string | null, nextAttemptAt: string | null, held: boolean, settledAt: string | null }>, attempts: Array<{ number: number, recipient: string, startedAt: string, finishedAt: string | null, outcome: AttemptOutcome | null, phase: string | null, code: number | null, enhancedCode: string | null, reply: string | null, remoteHost: string | null, remoteAddr: string | null, tls: string | null, tlsPolicy: string | null, localAddr: string | null, way: string | null, class: string | null }>, timeline: Array<{ id: string, type: string, at: string, recipient: string | null, detail: string | null, code: number | null, attempt: number | null, nextAttemptAt: string | null, data: unknown }> }
    & EmailRowFragment
  ) | null };

export type EmailContentQueryVariables = Exact<{
  id: string;
}>;


export type EmailContentQuery = { email: { id: string, content: { html: string | null, text: string | null, headers: Array<{ name: string, value: string }>, attachments: Array<{ name: string, contentType: string, contentId: string | null, size: number }> } } | null };

export type EmailEngagementQueryVariables = Exact<{
  id: string;
}>;


export type EmailEngagementQuery = { email: { id: string, engagement: { opens: number, clicks: number, machineOpens: number, machineClicks: number }, engagements: Array<{ kind: EngagementKind, url: string | null, ip: string | null, userAgent: string | null, machine: string | null, at: string }> } | null };

export type EmailKeyQueryVariables = Exact<{
  id: string;
}>;


export type EmailKeyQuery = { email: { id: string, apiKey: { id: string, name: string, prefix: string } | null } | null };

export type EmailTemplateQueryVariables = Exact<{
  id: string;
}>;


export type EmailTemplateQuery = { email: { id: string, template: { id: string, name: string } | null } | null };

export type EmailWebhooksQueryVariables = Exact<{
  id: string;
}>;


export type EmailWebhooksQuery = { email: { id: string, webhookDeliveries: Array<{ id: string, webhookId: string, eventType: string, state: WebhookDeliveryState, attemptCount: number, statusCode: number | null, error: string | null, createdAt: string, settledAt: string | null, nextAttemptAt: string | null, webhook: { id: string, url: string, enabled: boolean } | null }> } | null };

export type EmailAutomationQueryVariables = Exact<{
  id: string;
}>;


export type EmailAutomationQuery = { email: { id: string, automation: { automationId: string, automationName: string | null, runId: string, stepKey: string | null } | null } | null };

export type EmailSuppressionQueryVariables = Exact<{
  email: string;
}>;


export type EmailSuppressionQuery = { suppressions: { nodes: Array<{ id: string, reason: SuppressionReason, createdAt: string }> } };

export type EmailRawQueryVariables = Exact<{
  id: string;
}>;


export type EmailRawQuery = { email: { id: string, content: { raw: string | null } } | null };

export const EmailList = gql<EmailListQuery, EmailListQueryVariables>('EmailList', '268672e8dbab6c6d17b5d9ceb580042608398619dc5fded7644515d3705b7b46', import.meta.env.DEV ? "query EmailList($first: Int, $after: String, $last: Int, $before: String, $q: String) {\n  emails(\n    first: $first\n    after: $after\n    last: $last\n    before: $before\n    filter: {query: $q}\n  ) {\n    nodes {\n      ...EmailLine\n    }\n    pageInfo {\n      hasNextPage\n      endCursor\n      hasPreviousPage\n      startCursor\n    }\n  }\n}\n\nfragment EmailLine on Email {\n  ...EmailRow\n  snippet\n}\n\nfragment EmailRow on Email {\n  id\n  to\n  subject\n  status\n  lastEvent\n  createdAt\n  scheduledAt\n  domain {\n    name\n  }\n  apiKey {\n    id\n    name\n  }\n  tags {\n    name\n    value\n  }\n}" : undefined)
export const ScheduledList = gql<ScheduledListQuery, ScheduledListQueryVariables>('ScheduledList', '142872d9b4ca2a53d7ed1f2a42de481e975db78f453e02560674a05312057848', import.meta.env.DEV ? "query ScheduledList($first: Int, $after: String, $last: Int, $before: String) {\n  scheduledEmails(first: $first, after: $after, last: $last, before: $before) {\n    nodes {\n      ...EmailLine\n    }\n    pageInfo {\n      hasNextPage\n      endCursor\n      hasPreviousPage\n      startCursor\n    }\n  }\n}\n\nfragment EmailLine on Email {\n  ...EmailRow\n  snippet\n}\n\nfragment EmailRow on Email {\n  id\n  to\n  subject\n  status\n  lastEvent\n  createdAt\n  scheduledAt\n  domain {\n    name\n  }\n  apiKey {\n    id\n    name\n  }\n  tags {\n    name\n    value\n  }\n}" : undefined)
export const EmailRows = gql<EmailRowsQuery, EmailRowsQueryVariables>('EmailRows', '9d718c0e5daa251b654095ad0fde7e5502987d4681ca89258662ead96ddfe749', import.meta.env.DEV ? "query EmailRows($ids: [ID!]!) {\n  nodes(ids: $ids) {\n    ...EmailLine\n  }\n}\n\nfragment EmailLine on Email {\n  ...EmailRow\n  snippet\n}\n\nfragment EmailRow on Email {\n  id\n  to\n  subject\n  status\n  lastEvent\n  createdAt\n  scheduledAt\n  domain {\n    name\n  }\n  apiKey {\n    id\n    name\n  }\n  tags {\n    name\n    value\n  }\n}" : undefined)
export const EmailDetail = gql<EmailDetailQuery, EmailDetailQueryVariables>('EmailDetail', 'b30d3b8a5e95c40e575d897094db4987b55c07b712f05c9f7e27acd502e24803', import.meta.env.DEV ? "query EmailDetail($id: ID!) {\n  email(id: $id) {\n    ...EmailRow\n    from\n    cc\n    bcc\n    replyTo\n    bounceReason\n    messageId\n    expiresAt\n    cancelledAt\n    sentAt\n    deliveredAt\n    bouncedAt\n    recipients {\n      address\n      kind\n      state\n      attempts\n      code\n      enhancedCode\n      diagnostic\n      remoteMta\n      nextAttemptAt\n      held\n      settledAt\n    }\n    attempts {\n      number\n      recipient\n      startedAt\n      finishedAt\n      outcome\n      phase\n      code\n      enhancedCode\n      reply\n      remoteHost\n      remoteAddr\n      tls\n      tlsPolicy\n      localAddr\n      way\n      class\n    }\n    timeline {\n      id\n      type\n      at\n      recipient\n      detail\n      code\n      attempt\n      nextAttemptAt\n      data\n    }\n  }\n}\n\nfragment EmailRow on Email {\n  id\n  to\n  subject\n  status\n  lastEvent\n  createdAt\n  scheduledAt\n  domain {\n    name\n  }\n  apiKey {\n    id\n    name\n  }\n  tags {\n    name\n    value\n  }\n}" : undefined)
export const EmailContent = gql<EmailContentQuery, EmailContentQueryVariables>('EmailContent', '28df3b5ad6fd2d0cd614e1f42e5a2df973e08922174a738c836c58fdc6e93346', import.meta.env.DEV ? "query EmailContent($id: ID!) {\n  email(id: $id) {\n    id\n    content {\n      html\n      text\n      headers {\n        name\n        value\n      }\n      attachments {\n        name\n        contentType\n        contentId\n        size\n      }\n    }\n  }\n}" : undefined)
export const EmailEngagement = gql<EmailEngagementQuery, EmailEngagementQueryVariables>('EmailEngagement', '6ccbf8e8d29f2c91d36c51b42f00f7a71a11d0757b182f5cc058fb0e022bc199', import.meta.env.DEV ? "query EmailEngagement($id: ID!) {\n  email(id: $id) {\n    id\n    engagement {\n      opens\n      clicks\n      machineOpens\n      machineClicks\n    }\n    engagements(first: 100) {\n      kind\n      url\n      ip\n      userAgent\n      machine\n      at\n    }\n  }\n}" : undefined)
export const EmailKey = gql<EmailKeyQuery, EmailKeyQueryVariables>('EmailKey', 'c0cd48e3b7dbaf29bcdd1c04f7d68640d19ecd5b6b18acb87e37867311c825b8', import.meta.env.DEV ? "query EmailKey($id: ID!) {\n  email(id: $id) {\n    id\n    apiKey {\n      id\n      name\n      prefix\n    }\n  }\n}" : undefined)
export const EmailTemplate = gql<EmailTemplateQuery, EmailTemplateQueryVariables>('EmailTemplate', 'ba9b8283020fef3c652081114b3d39904d83feaf9aa3b1dd5eb203c9b75d2a0f', import.meta.env.DEV ? "query EmailTemplate($id: ID!) {\n  email(id: $id) {\n    id\n    template {\n      id\n      name\n    }\n  }\n}" : undefined)
export const EmailWebhooks = gql<EmailWebhooksQuery, EmailWebhooksQueryVariables>('EmailWebhooks', '7347be7f622687af13380cb08554fa63664388eb33b8139659bbdcd64f73cf08', import.meta.env.DEV ? "query EmailWebhooks($id: ID!) {\n  email(id: $id) {\n    id\n    webhookDeliveries {\n      id\n      webhookId\n      eventType\n      state\n      attemptCount\n      statusCode\n      error\n      createdAt\n      settledAt\n      nextAttemptAt\n      webhook {\n        id\n        url\n        enabled\n      }\n    }\n  }\n}" : undefined)
export const EmailAutomation = gql<EmailAutomationQuery, EmailAutomationQueryVariables>('EmailAutomation', '4477ebfb6852f8f3d523ead2a139040d0784e3f06e3ebdab4ed5ad651861e3cd', import.meta.env.DEV ? "query EmailAutomation($id: ID!) {\n  email(id: $id) {\n    id\n    automation {\n      automationId\n      automationName\n      runId\n      stepKey\n    }\n  }\n}" : undefined)
export const EmailSuppression = gql<EmailSuppressionQuery, EmailSuppressionQueryVariables>('EmailSuppression', 'da6b421590a8ba72fa9e574b8379a453a2630a1e8ce16c8eb0363fd83f4edcf6', import.meta.env.DEV ? "query EmailSuppression($email: String!) {\n  suppressions(first: 1, filter: {email: $email}) {\n    nodes {\n      id\n      reason\n      createdAt\n    }\n  }\n}" : undefined)
export const EmailRaw = gql<EmailRawQuery, EmailRawQueryVariables>('EmailRaw', '7425cafd2b0f04f2746a11f8f3b2e70128450f53622f2b3d3119f9f3d9199470', import.meta.env.DEV ? "query EmailRaw($id: ID!) {\n  email(id: $id) {\n    id\n    content {\n      raw\n    }\n  }\n}" : undefined)
