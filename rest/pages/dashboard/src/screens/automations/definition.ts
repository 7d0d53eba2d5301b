import { useQuery } from '@tanstack/react-query'
import { unwrap, rest } from '@/api/rest'
import type { components } from '@/api/rest.gen'
import type { AutomationDetailQuery } from './automations.gen'
import type { Doc } from './model/merge'
import { keyed, stepsOf } from './model/ways'

export type Detail = NonNullable<AutomationDetailQuery['automation']>
export type Automation = components['schemas']['AutomationRecord']
export type Problem = components['schemas']['AutomationProblem']

export const definitionKey = (id: string) => ['automation definition', id]
export const checkKey = (id: string) => ['automation check', id]

// useDefinition fetches the complete draft, which is not available in GraphQL.
export const useDefinition = (id: string) => useQuery({ queryKey: definitionKey(id), queryFn: () => unwrap(rest.GET('/automations/{id}', { params: { path: { id } } })).then((a) => a.automation) })

// useCheck fetches the problems that prevent activating the draft.
export const useCheck = (id: string, enabled = true) => useQuery({ queryKey: checkKey(id), queryFn: () => unwrap(rest.GET('/automations/{id}/check', { params: { path: { id } } })).then((a) => a.problems), enabled })

// The order in which members are written, for readers. The server does not keep an order.
const order = ['key', 'name', 'type', 'event', 'conditions', 're_entry', 'if', 'duration', 'timeout', 'from', 'to', 'subject', 'template']
const place = (name: string) => (order.indexOf(name) + 1 || order.length + 1)

function arranged(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((v) => arranged(v, name))
  if (typeof value !== 'object' || value === null || name === 'variables' || name === 'body' || name === 'headers') return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => place(a) - place(b)).map(([k, v]) => [k, arranged(v, k)]))
}

// docOf returns the draft of a record, with a key for each step.
export const docOf = (a: Automation): Doc => ({ name: a.name, description: a.description, timezone: a.timezone, goal: a.goal, trigger: (a.trigger ?? {}) as Record<string, unknown>, steps: keyed(stepsOf(a.steps)) })

// textOfDoc returns the JSON for manual editing.
export const textOfDoc = (d: Doc) => JSON.stringify({ name: d.name, description: d.description ?? null, timezone: d.timezone ?? null, goal: d.goal ?? null, trigger: arranged(d.trigger), steps: arranged(d.steps) }, null, 2)
