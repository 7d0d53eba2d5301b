import { CircleHelp, ShieldAlert, ShieldCheck, ShieldQuestion, ShieldX, type LucideIcon } from 'lucide-react'
import { Badge, type Tone } from '@/parts/Badge'

const verdicts: Record<string, [Tone, LucideIcon, string]> = {
  pass: ['ok', ShieldCheck, 'pass'],
  fail: ['bad', ShieldX, 'fail'],
  permerror: ['bad', ShieldX, 'permanent error'],
  softfail: ['warn', ShieldAlert, 'soft fail'],
  temperror: ['warn', ShieldAlert, 'temporary error'],
  policy: ['warn', ShieldAlert, 'policy violation'],
  neutral: ['quiet', ShieldQuestion, 'neutral'],
  none: ['quiet', ShieldQuestion, 'none'],
}

// Verdict is a result of RFC 8601, such as `SPF pass`.
export function Verdict({ name, result }: { name: string; result: string }) {
  const [tone, icon, word] = verdicts[result] ?? ['quiet', CircleHelp, result || 'none']
  return <Badge tone={tone} icon={icon}>{name} {word}</Badge>
}

const spam: Record<string, [Tone, LucideIcon, string]> = { HAM: ['ok', ShieldCheck, 'Not spam'], SPAM: ['bad', ShieldX, 'Spam'], UNKNOWN: ['quiet', CircleHelp, 'Spam not checked'] }

export function SpamVerdict({ status, score }: { status: string; score?: number | null }) {
  const [tone, icon, word] = spam[status] ?? ['quiet', CircleHelp, status]
  return <Badge tone={tone} icon={icon}>{word}{score != null && ` (${score.toFixed(1)})`}</Badge>
}

// Sender is the verdict in the list: DMARC if it has a result, else the better of the two others.
export function Sender({ spf, dkim, dmarc }: { spf: string; dkim: string; dmarc: string }) {
  if (dmarc !== 'none') return <Verdict name="DMARC" result={dmarc} />
  return dkim === 'pass' ? <Verdict name="DKIM" result={dkim} /> : <Verdict name="SPF" result={spf} />
}
