// Written by `npm run codegen`; do not edit.
export type PlanLimitsFragment = { requestsPerSecond: number, dailyEmails: number | null, monthlyEmails: number | null, maxDomains: number };

export type OperatorPlanRowFragment = { id: string, name: string, rank: number, selfService: boolean, requestsPerSecond: number, dailyEmails: number | null, monthlyEmails: number | null, dailySMS: number | null, includedEmails: number | null, overage: boolean, maxDomains: number, sandboxed: boolean };


