// Written by `npm run codegen`; do not edit.
import { gql } from '@/api/document'

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
export type UsageNowQueryVariables = Exact<{ [key: string]: never; }>;


export type UsageNowQuery = { usage: { emails: number, included: number | null, over: number, limit: number | null, projected: number | null, periods: Array<{ start: string, emails: number }> }, account: { id: string, plan: (
      { name: string }
      & PlanLimitsFragment
    ), usage: { day: number | null, month: number | null, dailyCap: number | null, monthlyCap: number | null, storedBytes: number | null, storedBytesCap: number | null, dailyBytes: number | null, dailyBytesCap: number | null, dayResetsAt: string, monthResetsAt: string } } };

export type BillingNowQueryVariables = Exact<{ [key: string]: never; }>;


export type BillingNowQuery = { billing: { enabled: boolean, mode: string | null, status: string, billingEmail: string, currentPeriodStart: string, currentPeriodEnd: string, cancelAt: string | null, pendingPlan: string | null, pendingAt: string | null, monthlyLimit: number | null, problems: Array<string>, plan: { id: string, name: string }, paymentMethod: { brand: string, last4: string, expMonth: number, expYear: number } | null, production: { unlocked: boolean, verifiedDomain: boolean, paymentMethod: boolean } }, plans: Array<{ id: string, name: string, includedEmails: number | null, overage: boolean, priceInterval: string | null, current: boolean, limits: PlanLimitsFragment, price: { amount: number, currency: string } | null, overagePrice: { amount: number, currency: string } | null }> };

export type PlanLimitsFragment = { requestsPerSecond: number, dailyEmails: number | null, monthlyEmails: number | null, maxDomains: number };

export const UsageNow = gql<UsageNowQuery, UsageNowQueryVariables>('UsageNow', '4c02d5919cdd739c04775065fd53c9f43c0493ced0378832616904314391616b', import.meta.env.DEV ? "query UsageNow {\n  usage {\n    emails\n    included\n    over\n    limit\n    projected\n    periods {\n      start\n      emails\n    }\n  }\n  account {\n    id\n    plan {\n      name\n      ...PlanLimits\n    }\n    usage {\n      day\n      month\n      dailyCap\n      monthlyCap\n      storedBytes\n      storedBytesCap\n      dailyBytes\n      dailyBytesCap\n      dayResetsAt\n      monthResetsAt\n    }\n  }\n}\n\nfragment PlanLimits on Plan {\n  requestsPerSecond\n  dailyEmails\n  monthlyEmails\n  maxDomains\n}" : undefined)
export const BillingNow = gql<BillingNowQuery, BillingNowQueryVariables>('BillingNow', '1d1a743e361320653ffbcbdc68e3889b239a0559f1020ae3ffdcc6d3acf9d0b9', import.meta.env.DEV ? "query BillingNow {\n  billing {\n    enabled\n    mode\n    plan {\n      id\n      name\n    }\n    status\n    paymentMethod {\n      brand\n      last4\n      expMonth\n      expYear\n    }\n    billingEmail\n    currentPeriodStart\n    currentPeriodEnd\n    cancelAt\n    pendingPlan\n    pendingAt\n    monthlyLimit\n    production {\n      unlocked\n      verifiedDomain\n      paymentMethod\n    }\n    problems\n  }\n  plans {\n    id\n    name\n    limits {\n      ...PlanLimits\n    }\n    includedEmails\n    overage\n    price {\n      amount\n      currency\n    }\n    priceInterval\n    overagePrice {\n      amount\n      currency\n    }\n    current\n  }\n}\n\nfragment PlanLimits on Plan {\n  requestsPerSecond\n  dailyEmails\n  monthlyEmails\n  maxDomains\n}" : undefined)
