import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'

export type Tone = 'ok' | 'warn' | 'bad' | 'info' | 'quiet'

// Badge shows a status as an icon, a word and a color.
export function Badge({ tone = 'quiet', icon: Icon, children }: { tone?: Tone; icon?: LucideIcon; children: ReactNode }) {
  return <span className={`badge tone-${tone}`}>{Icon && <Icon aria-hidden />}{children}</span>
}

export const toneText: Record<Tone, string> = { ok: 'text-ok', warn: 'text-warn', bad: 'text-bad', info: 'text-accent', quiet: 'text-ink-3' }
