// Written by `npm run codegen`; do not edit.
import { gql } from '@/api/document'

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** A tag of an email. */
export type TagInput = {
  /** Its name. */
  name: string;
  /** Its value. */
  value: string;
};

/** A stretch of time. */
export type TimeRange = {
  /** The first moment. */
  gte: string;
  /** The moment after the last one. */
  lt: string;
};

/** How long a period is, by the calendar and the clock of a time zone. */
export type StatisticsInterval =
  /** An hour, from one full hour of the clock to the next. Where clocks change by half an hour it is longer or shorter. */
  | 'HOUR'
  /** A day. */
  | 'DAY'
  /** A week, from Monday on. */
  | 'WEEK'
  /** A month. */
  | 'MONTH';

/** What figures are broken down by. */
export type StatisticsDimension =
  /** The sending domain. */
  | 'DOMAIN'
  /** A tag, as `name=value`. An email with two tags counts in the groups of both. */
  | 'TAG'
  /** The API key. */
  | 'API_KEY'
  /** The template. */
  | 'TEMPLATE'
  /** The automation. */
  | 'AUTOMATION'
  /** The domain of the recipient's address. Opens and clicks of an email to several domains are in the group with an empty key: they are seen of an email, not of a recipient. */
  | 'RECIPIENT_DOMAIN'
  /** What a refusal means, as `bad_address`. */
  | 'BOUNCE_CLASS';

/** Which mail counts. Of `tag`, `recipientDomain` and `bounceClass` one may be given, and a grouping by one does not go with a filter by another. */
export type StatisticsFilter = {
  /** The sending domain. */
  domainId?: string | null | undefined;
  /** The API key. */
  apiKeyId?: string | null | undefined;
  /** The template. */
  templateId?: string | null | undefined;
  /** The automation. */
  automationId?: string | null | undefined;
  /** A tag. */
  tag?: TagInput | null | undefined;
  /** The domain of the recipient's address, as A-labels. */
  recipientDomain?: string | null | undefined;
  /** What a refusal means, as `bad_address`. */
  bounceClass?: string | null | undefined;
};

export type MailFiguresQueryVariables = Exact<{
  range: TimeRange;
  interval: StatisticsInterval;
  timezone: string;
  filter?: StatisticsFilter | null | undefined;
}>;


export type MailFiguresQuery = { emailStatistics: { totals: FiguresFragment, buckets: Array<{ start: string, figures: FiguresFragment }> } };

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
export const MailGroups = gql<MailGroupsQuery, MailGroupsQueryVariables>('MailGroups', '8ae295c6768555b26e8a23249e2b2c454e08a15ed63571ceb11cdcae78e433fb', import.meta.env.DEV ? "query MailGroups($range: TimeRange!, $interval: StatisticsInterval!, $timezone: String!, $filter: StatisticsFilter, $groupBy: StatisticsDimension!) {\n  emailStatistics(\n    range: $range\n    interval: $interval\n    timezone: $timezone\n    filter: $filter\n    groupBy: $groupBy\n    top: 20\n  ) {\n    groups {\n      key\n      label\n      totals {\n        ...Figures\n      }\n    }\n    other {\n      key\n      label\n      totals {\n        ...Figures\n      }\n    }\n  }\n}\n\nfragment Figures on EmailFigures {\n  accepted\n  recipients\n  delivered\n  delayed\n  bounced\n  failed\n  complained\n  opened\n  clicked\n  unsubscribed\n  suppressed\n  bounceRate {\n    numerator\n    denominator\n  }\n  complaintRate {\n    numerator\n    denominator\n  }\n  latency {\n    p50\n    p95\n  }\n}" : undefined)
export const MailRefusals = gql<MailRefusalsQuery, MailRefusalsQueryVariables>('MailRefusals', '5b2ca92a285d509ec9770e25a9868309e91f726c81ae1686a1a5d3a3a4aa1b32', import.meta.env.DEV ? "query MailRefusals($range: TimeRange!, $filter: StatisticsFilter) {\n  topBounceReasons(range: $range, filter: $filter, first: 10) {\n    bounceClass\n    enhancedCode\n    host\n    count\n    example {\n      diagnostic\n      emailId\n      email {\n        id\n      }\n    }\n  }\n}" : undefined)
