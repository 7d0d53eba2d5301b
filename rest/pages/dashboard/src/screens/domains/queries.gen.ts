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

/** The TLS requirement for receiving servers. */
export type TlsMode =
  /** TLS is used if the server offers it. */
  | 'OPPORTUNISTIC'
  /** Nothing is delivered without TLS. */
  | 'ENFORCED';

/** Mode of the MTA-STS policy of a domain that receives mail (RFC 8461). */
export type MtastsMode =
  /** No policy is served, and no records are proposed. */
  | 'OFF'
  /** With this policy, senders discard an earlier one. */
  | 'NONE'
  /** Senders report failures of TLS and deliver the mail anyway. */
  | 'TESTING'
  /** Senders deliver only over TLS with a valid certificate, to the hosts in the policy. */
  | 'ENFORCE';

export type DomainListQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type DomainListQuery = { domains: { nodes: Array<DomainRowFragment>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type DomainRowFragment = { id: string, name: string, status: DomainStatus, lastCheckedAt: string | null, verifiedAt: string | null, createdAt: string, records: Array<{ purpose: string, required: boolean, status: string }> };

export type DomainDetailQueryVariables = Exact<{
  id: string;
}>;


export type DomainDetailQuery = { domain: { id: string, name: string, status: DomainStatus, lastCheckedAt: string | null, verifiedAt: string | null, createdAt: string, openTracking: boolean, clickTracking: boolean, tlsMode: TlsMode, inboundEnabled: boolean, mtaSts: MtastsMode, bimiLogoUrl: string | null, bimiCertificateUrl: string | null, records: Array<DomainDnsRecordFragment>, dkimKeys: Array<{ selector: string, algorithm: string, status: string, ready: boolean, createdAt: string, activatedAt: string | null, retiredAt: string | null, keepUntil: string | null }> } | null };

export type DomainDnsRecordFragment = { purpose: string, type: string, name: string, value: string, priority: number | null, ttl: number, required: boolean, status: string, found: Array<string>, error: string | null };

export type DomainChecksQueryVariables = Exact<{
  id: string;
}>;


export type DomainChecksQuery = { domain: { id: string, health: Array<{ checkedAt: string, status: DomainStatus, records: Array<{ purpose: string, selector: string | null, status: string, found: Array<string>, error: string | null }> }> } | null };

export const DomainList = gql<DomainListQuery, DomainListQueryVariables>('DomainList', '588486bd846ff64f8287322222b4bef1e3a11774bdf85c515d33ffebd4a6f217', import.meta.env.DEV ? "query DomainList($first: Int, $after: String) {\n  domains(first: $first, after: $after) {\n    nodes {\n      ...DomainRow\n    }\n    pageInfo {\n      hasNextPage\n      endCursor\n    }\n  }\n}\n\nfragment DomainRow on Domain {\n  id\n  name\n  status\n  lastCheckedAt\n  verifiedAt\n  createdAt\n  records {\n    purpose\n    required\n    status\n  }\n}" : undefined)
export const DomainDetail = gql<DomainDetailQuery, DomainDetailQueryVariables>('DomainDetail', '32a863f43f8b85d2891fafd25da9828701fca72e8cf0928fe8c47b29716e013e', import.meta.env.DEV ? "query DomainDetail($id: ID!) {\n  domain(id: $id) {\n    id\n    name\n    status\n    lastCheckedAt\n    verifiedAt\n    createdAt\n    openTracking\n    clickTracking\n    tlsMode\n    inboundEnabled\n    mtaSts\n    bimiLogoUrl\n    bimiCertificateUrl\n    records {\n      ...DomainDnsRecord\n    }\n    dkimKeys {\n      selector\n      algorithm\n      status\n      ready\n      createdAt\n      activatedAt\n      retiredAt\n      keepUntil\n    }\n  }\n}\n\nfragment DomainDnsRecord on DNSRecord {\n  purpose\n  type\n  name\n  value\n  priority\n  ttl\n  required\n  status\n  found\n  error\n}" : undefined)
export const DomainChecks = gql<DomainChecksQuery, DomainChecksQueryVariables>('DomainChecks', '7f524257065642351959e5ef9e109cfdcf2ae6562e578e120afe24328811f884', import.meta.env.DEV ? "query DomainChecks($id: ID!) {\n  domain(id: $id) {\n    id\n    health(first: 50) {\n      checkedAt\n      status\n      records {\n        purpose\n        selector\n        status\n        found\n        error\n      }\n    }\n  }\n}" : undefined)
