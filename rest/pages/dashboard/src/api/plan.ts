import type { OperatorPlanRowFragment, PlanLimitsFragment } from './plan.gen'

export type Plan = OperatorPlanRowFragment
export type Limits = PlanLimitsFragment

// A number of a plan: its field in GraphQL (snake case in REST), and its label on each screen.
export interface PlanNumber {
  field: { [F in keyof Plan]-?: Plan[F] extends number | null ? F : never }[keyof Plan]
  label: string // in the operator's form
  empty?: string // what an empty field of the form means; undefined: the number is required
  min?: number // 1 unless set
  column?: { head: string; width: string; from?: 'mid' | 'wide'; none?: string } // in the operator's table
  offer?: (limits: Limits) => string | null // in the list of plans that a customer sees; null: nothing to show
  detail?: (limits: Limits) => { name: string; text: string } // on the page of an account without billing
}

const count = (n: number) => n.toLocaleString('en')

export const planNumbers: PlanNumber[] = [
  { field: 'monthlyEmails', label: 'Emails per month', empty: 'unlimited', column: { head: 'Emails per month', width: '130px' }, offer: (l) => (l.monthlyEmails === null ? 'Unlimited emails' : `Up to ${count(l.monthlyEmails)} emails per month`) },
  { field: 'dailyEmails', label: 'Emails per day', empty: 'unlimited', column: { head: 'Per day', width: '110px', from: 'mid' }, offer: (l) => (l.dailyEmails === null ? null : `Up to ${count(l.dailyEmails)} per day`) },
  { field: 'dailySMS', label: 'Text messages per day', empty: 'unlimited' },
  { field: 'includedEmails', label: 'Included emails', empty: 'not shown', min: 0, column: { head: 'Included', width: '110px', from: 'wide', none: '–' } },
  { field: 'maxDomains', label: 'Domains', column: { head: 'Domains', width: '90px', from: 'mid' }, offer: (l) => `${count(l.maxDomains)} ${l.maxDomains === 1 ? 'domain' : 'domains'}`, detail: (l) => ({ name: 'Domains', text: `Up to ${count(l.maxDomains)}` }) },
  { field: 'requestsPerSecond', label: 'API requests per second', column: { head: 'Requests/s', width: '100px', from: 'wide' }, offer: (l) => `${count(l.requestsPerSecond)} requests per second`, detail: (l) => ({ name: 'API requests', text: `${count(l.requestsPerSecond)} per second` }) },
  { field: 'rank', label: 'Rank', min: 0 },
]

// nameInREST returns the REST name of a field of a plan.
export const nameInREST = (field: string) => field.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase()

// summaryOf describes a plan in one line, for the operator.
export function summaryOf(p: Plan): string {
  const shown = (n: number | null) => (n === null ? 'unlimited' : n.toLocaleString())
  return `${shown(p.dailyEmails)} per day, ${shown(p.monthlyEmails)} per month, ${p.maxDomains} domains`
}
