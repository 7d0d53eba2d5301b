import { groups, type Nav, type Screen } from './screen'
import { allowed, type Person } from './viewer'

// Every folder of src/screens that has a screen.ts is a screen.
const found = import.meta.glob<{ default: Screen }>('../screens/*/screen.ts', { eager: true })

export const screens: Screen[] = Object.values(found).map((m) => m.default)

export const navOf = (s: Screen): Nav[] => (s.nav ? [s.nav].flat() : [])

// navFor are the entries of the side bar that a person may see, group by group.
export function navFor(viewer: Person) {
  const entries = screens.filter((s) => allowed(s, viewer)).flatMap(navOf)
  return groups.map((group) => ({ group, entries: entries.filter((n) => n.group === group).sort((a, b) => a.order - b.order) })).filter((g) => g.entries.length > 0)
}
