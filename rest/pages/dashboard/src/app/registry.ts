import { groups, type Nav, type Screen } from './screen'
import { canView, type CurrentViewer } from './viewer'

// Every folder of src/screens with a screen.ts is a screen.
const modules = import.meta.glob<{ default: Screen }>('../screens/*/screen.ts', { eager: true })

export const screens: Screen[] = Object.values(modules).map((m) => m.default)

export const navItemsOf = (s: Screen): Nav[] => (s.nav ? [s.nav].flat() : [])

// buildNav returns the sidebar items that the viewer can see, by group.
export function buildNav(viewer: CurrentViewer) {
  const entries = screens.filter((s) => canView(s, viewer)).flatMap(navItemsOf)
  return groups.map((group) => ({ group, entries: entries.filter((n) => n.group === group).sort((a, b) => a.order - b.order) })).filter((g) => g.entries.length > 0)
}
