// Written by `npm run codegen`; do not edit.
import { gql } from '@/api/document'

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Where a domain stands. */
export type DomainStatus =
  /** Records are missing; it cannot send yet. */
  | 'PENDING'
  /** All required records were found; it sends. */
  | 'VERIFIED'
  /** Was verified, but records broke; it still sends for 72 hours. */
  | 'TEMPORARY_FAILURE'
  /** Stayed broken; it no longer sends. */
  | 'FAILED';

/** What narrows a list of emails. Fields that are left out narrow nothing. */
export type EmailFilter = {
  /** Of this status. */
  status?: EmailStatus | null | undefined;
  /** With this event as its latest, as `email.opened`. */
  lastEvent?: string | null | undefined;
  /** With this address in to, cc or bcc. */
  to?: string | null | undefined;
  /** From this address. */
  from?: string | null | undefined;
  /** From this domain, prefix `dom_`. */
  domainId?: string | null | undefined;
  /** Sent with this API key, prefix `key_`. */
  apiKeyId?: string | null | undefined;
  /** Made of this template, prefix `tpl_`. */
  templateId?: string | null | undefined;
  /** Made of this version of the template; with `templateId`. */
  templateVersion?: number | null | undefined;
  /** Sent by this automation, prefix `aut_`. */
  automationId?: string | null | undefined;
  /** With this tag. */
  tag?: TagInput | null | undefined;
  /** Created in this stretch of time. */
  createdAt?: DateTimeFilter | null | undefined;
  /** Opened by a person; where open tracking is on. */
  opened?: boolean | null | undefined;
  /** With a link that a person followed; where click tracking is on. */
  clicked?: boolean | null | undefined;
  /** Refused, and for this reason, as `bad_address`. */
  bounceClass?: string | null | undefined;
  /** A search text: words, each the beginning of one in subject, names, addresses or tags, and fields as in `receipt to:ada@example.net tag:env=prod is:opened before:2026-01-31`; at most 200 characters and 10 words. */
  query?: string | null | undefined;
};

/** A tag of an email. */
export type TagInput = {
  /** Its name. */
  name: string;
  /** Its value. */
  value: string;
};

/** Where a message stands. */
export type EmailStatus =
  /** Released, and about to be handed over; also while its account is suspended. */
  | 'QUEUED'
  /** Waits for its time. */
  | 'SCHEDULED'
  /** Accepted, and on its way. */
  | 'SENT'
  /** Every recipient's server took it. */
  | 'DELIVERED'
  /** A recipient's server refused it for good, or retries ran out. */
  | 'BOUNCED'
  /** No attempt could succeed for another reason. */
  | 'FAILED'
  /** Cancelled before its time. */
  | 'CANCELLED';

/** What narrows a list of received emails. Fields that are left out narrow nothing. */
export type ReceivedEmailFilter = {
  /** That came to this address, or name it in To or Cc. */
  to?: string | null | undefined;
  /** Whose From is this address. */
  from?: string | null | undefined;
  /** To this domain, prefix `dom_`. */
  domainId?: string | null | undefined;
  /** Received in this stretch of time. */
  receivedAt?: DateTimeFilter | null | undefined;
  /** With these words in subject, names, addresses or the beginning of the text, each as the beginning of a word; at most 200 characters and 10 words. */
  query?: string | null | undefined;
};

/** What a spam filter says. */
export type SpamStatus =
  /** It is none. */
  | 'HAM'
  /** It is spam. */
  | 'SPAM'
  /** There is no filter, or it did not answer. */
  | 'UNKNOWN';

/** What becomes of an address. */
export type AddressRuleAction =
  /** It is taken. */
  | 'ACCEPT'
  /** It is refused when it is brought. */
  | 'REJECT';

/** A stretch of time. Both ends may be left out. */
export type DateTimeFilter = {
  /** At this time or later. */
  gte?: string | null | undefined;
  /** Before this time. */
  lt?: string | null | undefined;
};

/** How far a delivery is. */
export type WebhookDeliveryState =
  /** It waits for an attempt, or one runs. */
  | 'PENDING'
  /** The endpoint answered 2xx. */
  | 'DELIVERED'
  /** All its attempts failed, or no attempt could succeed. */
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
