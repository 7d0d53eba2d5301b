// The entry of the menu that leads to a finding's subject, by the prefix of its id.
const entries: Record<string, string> = { dom: '/domains', wh: '/webhooks', tpl: '/templates', aut: '/automations' }

export interface Finding {
  level: string
  subjectId?: string | null
}

// countedByEntry counts what is wrong below each entry of the menu. Hints do not count.
export function countedByEntry(findings: Finding[]): Map<string, number> {
  const counted = new Map<string, number>()
  for (const { level, subjectId } of findings) {
    const to = entries[subjectId?.split('_', 1)[0] ?? '']
    if (to && level !== 'NOTICE') counted.set(to, (counted.get(to) ?? 0) + 1)
  }
  return counted
}

