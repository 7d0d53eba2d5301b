// Written by `npm run codegen`; do not edit.
import { gql } from '@/api/document'

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** A tag of an email. */
export type TagInput = {
  /** Name of the tag. */
  name: string;
  /** Value of the tag. */
  value: string;
};

/** A time range. */
export type TimeRange = {
  /** Start of the range, inclusive. */
  gte: string;
  /** End of the range, exclusive. */
  lt: string;
};

/** The length of a period in a time zone. */
export type StatisticsInterval =
  /** One hour, from one full hour of local time to the next. It is longer or shorter if the local time changes by half an hour. */
  | 'HOUR'
  /** One day. */
  | 'DAY'
  /** One week, starting on Monday. */
  | 'WEEK'
  /** One month. */
  | 'MONTH';

/** The dimension that statistics are grouped by. */
export type StatisticsDimension =
  /** Groups by sending domain. */
  | 'DOMAIN'
  /** Groups by tag, as `name=value`. An email with two tags counts in both groups. */
  | 'TAG'
  /** The API key. */
  | 'API_KEY'
  /** The template. */
  | 'TEMPLATE'
  /** The automation. */
  | 'AUTOMATION'
  /** Groups by the domain of the recipient's address. Opens and clicks of an email to several domains are in the group with an empty key, because they belong to the email, not to a recipient. */
  | 'RECIPIENT_DOMAIN'
  /** The class of the bounce, such as `bad_address`. */
  | 'BOUNCE_CLASS';

/** Filters the mail that is counted. Only one of `tag`, `recipientDomain` and `bounceClass` can be set, and grouping by one of them cannot be combined with a filter by another. */
export type StatisticsFilter = {
  /** The sending domain. */
  domainId?: string | null | undefined;
  /** The API key. */
  apiKeyId?: string | null | undefined;
  /** The template. */
  templateId?: string | null | undefined;
  /** The automation. */
  automationId?: string | null | undefined;
  /** The tag. */
  tag?: TagInput | null | undefined;
  /** The domain of the recipient's address, in A-labels. */
  recipientDomain?: string | null | undefined;
  /** The class of the bounce, such as `bad_address`. */
  bounceClass?: string | null | undefined;
};

export type MailFiguresQueryVariables = Exact<{
  range: TimeRange;
  interval: StatisticsInterval;
  timezone: string;
  filter?: StatisticsFilter | null | undefined;
}>;


export type MailFiguresQuery = { emailStatistics: { totals: FiguresFragment, buckets: Array<{ start: string, figures: FiguresFragment }> } };

export type MailTotalsQueryVariables = Exact<{
  range: TimeRange;
  interval: StatisticsInterval;
  timezone: string;
  filter?: StatisticsFilter | null | undefined;
}>;


export type MailTotalsQuery = { emailStatistics: { totals: FiguresFragment } };

export type MailGroupsQueryVariables = Exact<{
  range: TimeRange;
  interval: StatisticsInterval;
  timezone: string;
  filter?: StatisticsFilter | null | undefined;
  groupBy: StatisticsDimension;
}>;


export type MailGroupsQuery = { emailStatistics: { groups: Array<{ key: string, label: string, totals: FiguresFragment }>, other: { key: string, label: string, totals: FiguresFragment } | null } };

export type MailRefusalsQueryVariables = Exact<{
  range: TimeRange;
  filter?: StatisticsFilter | null | undefined;
}>;


export type MailRefusalsQuery = { topBounceReasons: Array<{ bounceClass: string, enhancedCode: string, host: string, count: number, example: { diagnostic: string, emailId: string, email: { id: string } | null } }> };

export type FiguresFragment = { accepted: number, recipients: number, delivered: number, delayed: number, bounced: number, failed: number, complained: number, opened: number, clicked: number, unsubscribed: number, suppressed: number, bounceRate: { numerator: number, denominator: number }, complaintRate: { numerator: number, denominator: number }, latency: { p50: number, p95: number } | null };

export const MailFigures = gql<MailFiguresQuery, MailFiguresQueryVariables>('MailFigures', '1fad5de732d6c58a2714dfe2b4711ba90f072a90cd5976fabc58c29d25721b03', import.meta.env.DEV ? "query MailFigures($range: TimeRange!, $interval: StatisticsInterval!, $timezone: String!, $filter: StatisticsFilter) {\n  emailStatistics(\n    range: $range\n    interval: $interval\n    timezone: $timezone\n    filter: $filter\n  ) {\n    totals {\n      ...Figures\n    }\n    buckets {\n      start\n      figures {\n        ...Figures\n      }\n    }\n  }\n}\n\nfragment Figures on EmailFigures {\n  accepted\n  recipients\n  delivered\n  delayed\n  bounced\n  failed\n  complained\n  opened\n  clicked\n  unsubscribed\n  suppressed\n  bounceRate {\n    numerator\n    denominator\n  }\n  complaintRate {\n    numerator\n    denominator\n  }\n  latency {\n    p50\n    p95\n  }\n}" : undefined)
export const MailTotals = gql<MailTotalsQuery, MailTotalsQueryVariables>('MailTotals', '0b7977f9d36d868609db09004c989be76664d5ef86353d1d8d1c67072dc815c3', import.meta.env.DEV ? "query MailTotals($range: TimeRange!, $interval: StatisticsInterval!, $timezone: String!, $filter: StatisticsFilter) {\n  emailStatistics(\n    range: $range\n    interval: $interval\n    timezone: $timezone\n    filter: $filter\n  ) {\n    totals {\n      ...Figures\n    }\n  }\n}\n\nfragment Figures on EmailFigures {\n  accepted\n  recipients\n  delivered\n  delayed\n  bounced\n  failed\n  complained\n  opened\n  clicked\n  unsubscribed\n  suppressed\n  bounceRate {\n    numerator\n    denominator\n  }\n  complaintRate {\n    numerator\n    denominator\n  }\n  latency {\n    p50\n    p95\n  }\n}" : undefined)
export const MailGroups = gql<MailGroupsQuery, MailGroupsQueryVariables>('MailGroups', '8ae295c6768555b26e8a23249e2b2c454e08a15ed63571ceb11cdcae78e433fb', import.meta.env.DEV ? "query MailGroups($range: TimeRange!, $interval: StatisticsInterval!, $timezone: String!, $filter: StatisticsFilter, $groupBy: StatisticsDimension!) {\n  emailStatistics(\n    range: $range\n    interval: $interval\n    timezone: $timezone\n    filter: $filter\n    groupBy: $groupBy\n    top: 20\n  ) {\n    groups {\n      key\n      label\n      totals {\n        ...Figures\n      }\n    }\n    other {\n      key\n      label\n      totals {\n        ...Figures\n      }\n    }\n  }\n}\n\nfragment Figures on EmailFigures {\n  accepted\n  recipients\n  delivered\n  delayed\n  bounced\n  failed\n  complained\n  opened\n  clicked\n  unsubscribed\n  suppressed\n  bounceRate {\n    numerator\n    denominator\n  }\n  complaintRate {\n    numerator\n    denominator\n  }\n  latency {\n    p50\n    p95\n  }\n}" : undefined)
export const MailRefusals = gql<MailRefusalsQuery, MailRefusalsQueryVariables>('MailRefusals', '5b2ca92a285d509ec9770e25a9868309e91f726c81ae1686a1a5d3a3a4aa1b32', import.meta.env.DEV ? "query MailRefusals($range: TimeRange!, $filter: StatisticsFilter) {\n  topBounceReasons(range: $range, filter: $filter, first: 10) {\n    bounceClass\n    enhancedCode\n    host\n    count\n    example {\n      diagnostic\n      emailId\n      email {\n        id\n      }\n    }\n  }\n}" : undefined)
