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

/** Filters a list of emails. Omitted fields do not filter. */
export type EmailFilter = {
  /** Matches this status. */
  status?: EmailStatus | null | undefined;
  /** Matches emails whose most recent event has this type, such as `email.opened`. */
  lastEvent?: string | null | undefined;
  /** Matches emails with this address in to, cc or bcc. */
  to?: string | null | undefined;
  /** Matches emails from this address. */
  from?: string | null | undefined;
  /** Matches emails from this domain, prefix `dom_`. */
  domainId?: string | null | undefined;
  /** Matches emails sent with this API key, prefix `key_`. */
  apiKeyId?: string | null | undefined;
  /** Matches emails sent with this template, prefix `tpl_`. */
  templateId?: string | null | undefined;
  /** Matches emails sent with this version of the template. Requires `templateId`. */
  templateVersion?: number | null | undefined;
  /** Matches emails sent by this automation, prefix `aut_`. */
  automationId?: string | null | undefined;
  /** Matches emails with this tag. */
  tag?: TagInput | null | undefined;
  /** Matches emails created in this time range. */
  createdAt?: DateTimeFilter | null | undefined;
  /** Matches emails that a person opened, if open tracking is on. */
  opened?: boolean | null | undefined;
  /** Matches emails with a link that a person followed, if click tracking is on. */
  clicked?: boolean | null | undefined;
  /** Matches emails that were refused for this reason, such as `bad_address`. */
  bounceClass?: string | null | undefined;
  /** Search text. Each word matches the start of a word in subject, names, addresses or tags, a part of an address, such as its domain, or an ID; in the newest 10,000 emails also any part of a word. Fields narrow the search, as in `receipt to:ada@example.net tag:env=prod is:opened before:2026-01-31`. At most 200 characters and 10 words. */
  query?: string | null | undefined;
};

/** A tag of an email. */
export type TagInput = {
  /** Name of the tag. */
  name: string;
  /** Value of the tag. */
  value: string;
};

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

/** Filters a list of received emails. Omitted fields do not filter. */
export type ReceivedEmailFilter = {
  /** Matches emails received for this address, or with it in To or Cc. */
  to?: string | null | undefined;
  /** Matches emails with this From address. */
  from?: string | null | undefined;
  /** Matches emails received for this domain, prefix `dom_`. */
  domainId?: string | null | undefined;
  /** Matches emails received in this time range. */
  receivedAt?: DateTimeFilter | null | undefined;
  /** Search text. Each word matches the start of a word in subject, names, addresses or the beginning of the text, a part of an address, such as its domain, or an ID; in the newest 10,000 emails also any part of a word. At most 200 characters and 10 words. */
  query?: string | null | undefined;
};

/** The result of the spam filter. */
export type SpamStatus =
  /** The message is not spam. */
  | 'HAM'
  /** The message is spam. */
  | 'SPAM'
  /** There is no filter, or it did not respond. */
  | 'UNKNOWN';

/** The action for an address. */
export type AddressRuleAction =
  /** Mail to the address is accepted. */
  | 'ACCEPT'
  /** Mail to the address is refused in the SMTP session. */
  | 'REJECT';

/** A time range. Both ends are optional. */
export type DateTimeFilter = {
  /** Start of the range, inclusive. */
  gte?: string | null | undefined;
  /** End of the range, exclusive. */
  lt?: string | null | undefined;
};

/** The state of a delivery. */
export type WebhookDeliveryState =
  /** An attempt is due or in progress. */
  | 'PENDING'
  /** The endpoint answered 2xx. */
  | 'DELIVERED'
  /** All attempts failed, or no attempt could succeed. */
  | 'FAILED';

export type ReceivedListQueryVariables = Exact<{
  after?: string | null | undefined;
  filter?: ReceivedEmailFilter | null | undefined;
}>;


export type ReceivedListQuery = { receivedEmails: { nodes: Array<{ id: string, from: string, mailFrom: string, rcptTo: string, subject: string, spamStatus: SpamStatus, attachmentCount: number, receivedAt: string, authentication: { spf: string, dkim: string, dmarc: string } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type ReceivedOneQueryVariables = Exact<{
  id: string;
}>;


export type ReceivedOneQuery = { receivedEmail: { id: string, domainId: string, rcptTo: string, mailFrom: string, from: string, to: Array<string>, cc: Array<string>, replyTo: Array<string>, subject: string, messageId: string, inReplyTo: string | null, references: Array<string>, spamStatus: SpamStatus, spamScore: number | null, autoSubmitted: boolean, size: number, defects: Array<string>, remoteIp: string, helo: string, tls: string | null, receivedAt: string, authentication: { spf: string, dkim: string, dmarc: string, iprev: string, dmarcPolicy: string | null }, attachments: Array<{ filename: string, contentType: string, contentId: string | null, inline: boolean, size: number }>, content: { html: string | null, text: string | null, headers: Array<{ name: string, value: string }> } | null } | null };

export type ReceivedDomainsQueryVariables = Exact<{
  after?: string | null | undefined;
}>;


export type ReceivedDomainsQuery = { domains: { nodes: Array<{ id: string, name: string, status: DomainStatus, inboundEnabled: boolean }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type ReceivedRulesQueryVariables = Exact<{
  domainId: string;
}>;


export type ReceivedRulesQuery = { addressRules: { catchAll: boolean, rules: Array<{ match: string, action: AddressRuleAction }> } | null };

export type ReceivedThreadQueryVariables = Exact<{
  filter?: ReceivedEmailFilter | null | undefined;
}>;


export type ReceivedThreadQuery = { receivedEmails: { nodes: Array<{ id: string, from: string, subject: string, messageId: string, inReplyTo: string | null, receivedAt: string, references: Array<string> }> } };

export type SentThreadQueryVariables = Exact<{
  filter?: EmailFilter | null | undefined;
}>;


export type SentThreadQuery = { emails: { nodes: Array<{ id: string, to: Array<string>, subject: string, messageId: string, createdAt: string, content: { headers: Array<{ name: string, value: string }> } }> } };

export type ReceivedWebhooksQueryVariables = Exact<{
  id: string;
}>;


export type ReceivedWebhooksQuery = { receivedEmail: { id: string, webhookDeliveries: Array<{ id: string, webhookId: string, eventType: string, state: WebhookDeliveryState, attemptCount: number, statusCode: number | null, error: string | null, createdAt: string, settledAt: string | null, nextAttemptAt: string | null, webhook: { id: string, url: string, enabled: boolean } | null }> } | null };

export const ReceivedList = gql<ReceivedListQuery, ReceivedListQueryVariables>('ReceivedList', '118c391ee09b645eb4113519dd40927718ca601bc6a5cef9c99945b1e9e57f7a', import.meta.env.DEV ? "query ReceivedList($after: String, $filter: ReceivedEmailFilter) {\n  receivedEmails(first: 50, after: $after, filter: $filter) {\n    nodes {\n      id\n      from\n      mailFrom\n      rcptTo\n      subject\n      spamStatus\n      authentication {\n        spf\n        dkim\n        dmarc\n      }\n      attachmentCount\n      receivedAt\n    }\n    pageInfo {\n      hasNextPage\n      endCursor\n    }\n  }\n}" : undefined)
export const ReceivedOne = gql<ReceivedOneQuery, ReceivedOneQueryVariables>('ReceivedOne', '693fc2dc47e046df0b87313f4d8c35b66b7bbbf2e1fd5296ed3ddf1f54276cfc', import.meta.env.DEV ? "query ReceivedOne($id: ID!) {\n  receivedEmail(id: $id) {\n    id\n    domainId\n    rcptTo\n    mailFrom\n    from\n    to\n    cc\n    replyTo\n    subject\n    messageId\n    inReplyTo\n    references\n    authentication {\n      spf\n      dkim\n      dmarc\n      iprev\n      dmarcPolicy\n    }\n    spamStatus\n    spamScore\n    autoSubmitted\n    size\n    attachments {\n      filename\n      contentType\n      contentId\n      inline\n      size\n    }\n    defects\n    remoteIp\n    helo\n    tls\n    receivedAt\n    content {\n      html\n      text\n      headers {\n        name\n        value\n      }\n    }\n  }\n}" : undefined)
export const ReceivedDomains = gql<ReceivedDomainsQuery, ReceivedDomainsQueryVariables>('ReceivedDomains', 'e27149878fbd3daa0f06643b63cd96269aa7539f5f3f2bcc68902a150281cde2', import.meta.env.DEV ? "query ReceivedDomains($after: String) {\n  domains(first: 100, after: $after) {\n    nodes {\n      id\n      name\n      status\n      inboundEnabled\n    }\n    pageInfo {\n      hasNextPage\n      endCursor\n    }\n  }\n}" : undefined)
export const ReceivedRules = gql<ReceivedRulesQuery, ReceivedRulesQueryVariables>('ReceivedRules', '20359be1071f43d0bc5f8ddcfa8eb27f3b966e3ef8b3d4f28210fa0b5652386b', import.meta.env.DEV ? "query ReceivedRules($domainId: ID!) {\n  addressRules(domainId: $domainId) {\n    catchAll\n    rules {\n      match\n      action\n    }\n  }\n}" : undefined)
export const ReceivedThread = gql<ReceivedThreadQuery, ReceivedThreadQueryVariables>('ReceivedThread', '67fbb38fb534cf385deefd73e601f642f43cb5c46ba0d058216b1759506fbb38', import.meta.env.DEV ? "query ReceivedThread($filter: ReceivedEmailFilter) {\n  receivedEmails(first: 50, filter: $filter) {\n    nodes {\n      id\n      from\n      subject\n      messageId\n      inReplyTo\n      references: outerReferences\n      receivedAt\n    }\n  }\n}" : undefined)
export const SentThread = gql<SentThreadQuery, SentThreadQueryVariables>('SentThread', 'd1a429dbe262aa4b05843090192bf1483966b072721b46c1c12cd0a2c33d8797', import.meta.env.DEV ? "query SentThread($filter: EmailFilter) {\n  emails(first: 20, filter: $filter) {\n    nodes {\n      id\n      to\n      subject\n      messageId\n      createdAt\n      content {\n        headers {\n          name\n          value\n        }\n      }\n    }\n  }\n}" : undefined)
export const ReceivedWebhooks = gql<ReceivedWebhooksQuery, ReceivedWebhooksQueryVariables>('ReceivedWebhooks', '1089e92749392df27c2fbaf646c582f96f0d687299e052f20585dbaf5424fb39', import.meta.env.DEV ? "query ReceivedWebhooks($id: ID!) {\n  receivedEmail(id: $id) {\n    id\n    webhookDeliveries {\n      id\n      webhookId\n      eventType\n      state\n      attemptCount\n      statusCode\n      error\n      createdAt\n      settledAt\n      nextAttemptAt\n      webhook {\n        id\n        url\n        enabled\n      }\n    }\n  }\n}" : undefined)
