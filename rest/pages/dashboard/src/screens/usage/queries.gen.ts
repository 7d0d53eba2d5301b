// Written by `npm run codegen`; do not edit.
import { gql } from '@/api/document'

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
export type UsageNowQueryVariables = Exact<{ [key: string]: never; }>;


export type UsageNowQuery = { usage: { emails: number, included: number | null, over: number, limit: number | null, projected: number | null, periods: Array<{ start: string, emails: number }> }, account: { id: string, plan: { name: string, requestsPerSecond: number, maxDomains: number }, usage: { day: number | null, month: number | null, dailyCap: number | null, monthlyCap: number | null, storedBytes: number | null, storedBytesCap: number | null, dailyBytes: number | null, dailyBytesCap: number | null, dayResetsAt: string, monthResetsAt: string } } };

export type BillingNowQueryVariables = Exact<{ [key: string]: never; }>;


export type BillingNowQuery = { billing: { enabled: boolean, mode: string | null, status: string, billingEmail: string, currentPeriodStart: string, currentPeriodEnd: string, cancelAt: string | null, pendingPlan: string | null, pendingAt: string | null, monthlyLimit: number | null, problems: Array<string>, plan: { id: string, name: string }, paymentMethod: { brand: string, last4: string, expMonth: number, expYear: number } | null, production: { unlocked: boolean, verifiedDomain: boolean, paymentMethod: boolean } }, plans: Array<{ id: string, name: string, includedEmails: number | null, overage: boolean, priceInterval: string | null, current: boolean, limits: { requestsPerSecond: number, dailyEmails: number | null, monthlyEmails: number | null, maxDomains: number }, price: { amount: number, currency: string } | null, overagePrice: { amount: number, currency: string } | null }> };

export const UsageNow = gql<UsageNowQuery, UsageNowQueryVariables>('UsageNow', '60dbdaa9710300e71183559e44d4b240b24ae2c8210727775a4a749cc456d46c', import.meta.env.DEV ? "query UsageNow {\n  usage {\n    emails\n    included\n    over\n    limit\n    projected\n    periods {\n      start\n      emails\n    }\n  }\n  account {\n    id\n    plan {\n      name\n      requestsPerSecond\n      maxDomains\n    }\n    usage {\n      day\n      month\n      dailyCap\n      monthlyCap\n      storedBytes\n      storedBytesCap\n      dailyBytes\n      dailyBytesCap\n      dayResetsAt\n      monthResetsAt\n    }\n  }\n}" : undefined)
export const BillingNow = gql<BillingNowQuery, BillingNowQueryVariables>('BillingNow', '5326f6dabe61dd06f78d8750a8eaf557ae0dbae7610748ccc995dcf1be4e54e2', import.meta.env.DEV ? "query BillingNow {\n  billing {\n    enabled\n    mode\n    plan {\n      id\n      name\n    }\n    status\n    paymentMethod {\n      brand\n      last4\n      expMonth\n      expYear\n    }\n    billingEmail\n    currentPeriodStart\n    currentPeriodEnd\n    cancelAt\n    pendingPlan\n    pendingAt\n    monthlyLimit\n    production {\n      unlocked\n      verifiedDomain\n      paymentMethod\n    }\n    problems\n  }\n  plans {\n    id\n    name\n    limits {\n      requestsPerSecond\n      dailyEmails\n      monthlyEmails\n      maxDomains\n    }\n    includedEmails\n    overage\n    price {\n      amount\n      currency\n    }\n    priceInterval\n    overagePrice {\n      amount\n      currency\n    }\n    current\n  }\n}" : undefined)
