// agentName describes a User-Agent in two words: `Firefox, Windows`.
export function agentName(agent: string): string {
  const browser = [['Edg/', 'Edge'], ['OPR/', 'Opera'], ['Firefox/', 'Firefox'], ['Chrome/', 'Chrome'], ['Safari/', 'Safari']].find(([mark]) => agent.includes(mark ?? ''))?.[1]
  const system = [['iPhone', 'iPhone'], ['iPad', 'iPad'], ['Android', 'Android'], ['Windows', 'Windows'], ['Mac OS', 'Mac'], ['CrOS', 'ChromeOS'], ['Linux', 'Linux']].find(([mark]) => agent.includes(mark ?? ''))?.[1]
  return [browser ?? agent.split(/[/ ]/)[0], system].filter(Boolean).join(', ') || 'Unknown client'
}
