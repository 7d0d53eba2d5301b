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

export type ReceivedListQueryVariables = Exact<{
  after?: string | null | undefined;
  filter?: ReceivedEmailFilter | null | undefined;
}>;


export type ReceivedListQuery = { receivedEmails: { nodes: Array<{ id: string, from: string, mailFrom: string, rcptTo: string, subject: string, spamStatus: SpamStatus, receivedAt: string, authentication: { spf: string, dkim: string, dmarc: string }, attachments: Array<{ filename: string }> }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

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

export const ReceivedList = gql<ReceivedListQuery, ReceivedListQueryVariables>('ReceivedList', '3a9c60276fc9cce03d477fb7eb8cec5caba1ac6ef8e08d1f51c7c2c35533cac1', import.meta.env.DEV ? "query ReceivedList($after: String, $filter: ReceivedEmailFilter) {\n  receivedEmails(first: 50, after: $after, filter: $filter) {\n    nodes {\n      id\n      from\n      mailFrom\n      rcptTo\n      subject\n      spamStatus\n      authentication {\n        spf\n        dkim\n        dmarc\n      }\n      attachments {\n        filename\n      }\n      receivedAt\n    }\n    pageInfo {\n      hasNextPage\n      endCursor\n    }\n  }\n}" : undefined)
export const ReceivedOne = gql<ReceivedOneQuery, ReceivedOneQueryVariables>('ReceivedOne', '693fc2dc47e046df0b87313f4d8c35b66b7bbbf2e1fd5296ed3ddf1f54276cfc', import.meta.env.DEV ? "query ReceivedOne($id: ID!) {\n  receivedEmail(id: $id) {\n    id\n    domainId\n    rcptTo\n    mailFrom\n    from\n    to\n    cc\n    replyTo\n    subject\n    messageId\n    inReplyTo\n    references\n    authentication {\n      spf\n      dkim\n      dmarc\n      iprev\n      dmarcPolicy\n    }\n    spamStatus\n    spamScore\n    autoSubmitted\n    size\n    attachments {\n      filename\n      contentType\n      contentId\n      inline\n      size\n    }\n    defects\n    remoteIp\n    helo\n    tls\n    receivedAt\n    content {\n      html\n      text\n      headers {\n        name\n        value\n      }\n    }\n  }\n}" : undefined)
export const ReceivedDomains = gql<ReceivedDomainsQuery, ReceivedDomainsQueryVariables>('ReceivedDomains', 'e27149878fbd3daa0f06643b63cd96269aa7539f5f3f2bcc68902a150281cde2', import.meta.env.DEV ? "query ReceivedDomains($after: String) {\n  domains(first: 100, after: $after) {\n    nodes {\n      id\n      name\n      status\n      inboundEnabled\n    }\n    pageInfo {\n      hasNextPage\n      endCursor\n    }\n  }\n}" : undefined)
export const ReceivedRules = gql<ReceivedRulesQuery, ReceivedRulesQueryVariables>('ReceivedRules', '20359be1071f43d0bc5f8ddcfa8eb27f3b966e3ef8b3d4f28210fa0b5652386b', import.meta.env.DEV ? "query ReceivedRules($domainId: ID!) {\n  addressRules(domainId: $domainId) {\n    catchAll\n    rules {\n      match\n      action\n    }\n  }\n}" : undefined)
