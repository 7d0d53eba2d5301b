import type { Doc } from './merge'
import { getIn } from './path'
import { same } from './merge'
import { kindOf } from '../steps/kinds'
import { requiredFields } from '../steps/kinds.gen'
import { keyOfStep } from './step'

// Trouble is a problem of a definition, in a field of a step. `at` is the key of the step, `trigger`, or
// empty for the whole definition.
export interface Trouble {
  at: string
  field: string
  message: string
  bad: boolean
}

export interface Said {
  path: string
  message: string
  severity: string
}

// placed converts paths of the server to steps, so that they stay valid when steps move.
export function placed(doc: Doc, said: Said[]): Trouble[] {
  return said.map((p) => {
    const m = /^steps\[(\d+)\]\.?(.*)$/.exec(p.path)
    const step = m && doc.steps[Number(m[1])]
    if (m && step) return { at: keyOfStep(step, Number(m[1])), field: m[2] ?? '', message: p.message, bad: p.severity === 'error' }
    const t = /^trigger\.?(.*)$/.exec(p.path)
    return { at: t ? 'trigger' : '', field: t ? (t[1] ?? '') : p.path, message: p.message, bad: p.severity === 'error' }
  })
}

const ofStep = (doc: Doc, at: string) => (at === 'trigger' ? doc.trigger : at === '' ? doc : doc.steps.find((s, i) => keyOfStep(s, i) === at))

// standing returns the problems whose fields have not changed.
export function standing(list: Trouble[], then: Doc, now: Doc): Trouble[] {
  return list.filter((t) => {
    const [a, b] = [ofStep(then, t.at), ofStep(now, t.at)]
    return a !== undefined && b !== undefined && (t.field === '' ? same(a, b) : same(getIn(a, t.field), getIn(b, t.field)))
  })
}

// missing returns the required fields that are empty.
export function missing(doc: Doc): Trouble[] {
  const lack = (at: string, field: string, message = 'is required'): Trouble => ({ at, field, message, bad: true })
  const empty = (s: unknown, field: string) => [undefined, ''].includes(getIn(s, field) as string)
  const out = [...(empty(doc, 'name') ? [lack('', 'name')] : []), ...(empty(doc.trigger, 'event') ? [lack('trigger', 'event')] : [])]
  for (const [i, s] of doc.steps.entries()) {
    const key = keyOfStep(s, i)
    for (const f of requiredFields[s.type] ?? []) if (empty(s, f)) out.push(lack(key, f))
    for (const l of kindOf(s.type).lacks?.(s) ?? []) out.push(lack(key, l.field, l.message))
  }
  return out
}
