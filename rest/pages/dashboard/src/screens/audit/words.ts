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

const places: [string, string][] = [['msg_', '/emails/'], ['dom_', '/domains/'], ['tpl_', '/templates/'], ['aut_', '/automations/'], ['whk_', '/webhooks/'], ['in_', '/received/']]

// pageOf returns the page of a changed resource.
export function pageOf(target: string): string | undefined {
  const place = places.find(([prefix]) => target.startsWith(prefix))
  return place && place[1] + target
}
