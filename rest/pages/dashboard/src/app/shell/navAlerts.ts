// pathByPrefix maps the id prefix of a finding's subject to its screen.
const pathByPrefix: Record<string, string> = { dom: '/domains', wh: '/webhooks', tpl: '/templates', aut: '/automations' }

export interface Finding {
  level: string
  subjectId?: string | null
}

// countByNavItem counts the errors and warnings of each screen. Notices do not count.
export function countByNavItem(findings: Finding[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { level, subjectId } of findings) {
    const to = pathByPrefix[subjectId?.split('_', 1)[0] ?? '']
    if (to && level !== 'NOTICE') counts.set(to, (counts.get(to) ?? 0) + 1)
  }
  return counts
}

