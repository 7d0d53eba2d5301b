import { Bot, KeyRound, Terminal, UserRound, type LucideIcon } from 'lucide-react'
import type { AuditActorKind } from './queries.gen'

export const kinds: Record<AuditActorKind, { name: string; icon: LucideIcon }> = {
  USER: { name: 'User', icon: UserRound },
  KEY: { name: 'API key', icon: KeyRound },
  OPERATOR: { name: 'Operator', icon: Terminal },
  SYSTEM: { name: 'System', icon: Bot },
}

// actionWords makes `member.role_changed` and `createWebhook` readable.
export function actionWords(action: string): string {
  if (action === 'actOnAutomation') return 'Change automation status'
  const words = action.includes('.') ? action.split(/[._]/) : action.split(/(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/)
  const text = words.map((w) => (/^[A-Z]{2,}s?$/.test(w) ? w : w.toLowerCase())).join(' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const nameFields = ['name', 'email', 'url', 'subject', 'alias']

// nameOfTarget returns the name of the changed object, if the entry contains it.
export function nameOfTarget(changes: unknown): string | undefined {
  const values = nameFields.map((f) => (changes as Record<string, unknown> | null)?.[f])
  const found = values.map((v) => (v && typeof v === 'object' && 'to' in v ? v.to : v)).find((v) => typeof v === 'string' && v !== '')
  return found as string | undefined
}

export interface Change {
  field: string
  before?: string
  after: string
}

const show = (value: unknown) => (typeof value === 'string' ? value : value === null ? 'none' : JSON.stringify(value))

// changesOf lists what an entry changed: fields with their new value, and with the old one if it is known.
export function changesOf(changes: unknown): Change[] {
  if (changes === null || typeof changes !== 'object' || Array.isArray(changes)) return []
  const { from, to, ...rest } = changes as Record<string, unknown>
  const moved = from !== undefined && to !== undefined && (typeof from !== 'object' || from === null)
  return [
    ...(moved ? [{ field: 'change', before: show(from), after: show(to) }] : []),
    ...Object.entries(moved ? rest : (changes as object)).map(([field, value]): Change => {
      const pair = value as { from?: unknown; to?: unknown } | null
      return pair && typeof pair === 'object' && 'from' in pair && 'to' in pair ? { field, before: show(pair.from), after: show(pair.to) } : { field, after: show(value) }
    }),
  ]
}
