// The pages of the manual that explain the screens, by the beginning of their paths. The service serves the manual.
const pages: Record<string, string> = {
  '/': 'start', '/inbox': 'development', '/test-inbox': 'test-mode', '/emails': 'emails', '/addresses': 'bounces', '/received': 'receiving', '/suppressions': 'bounces', '/queue': 'sending', '/templates': 'templates',
  '/automations': 'automations', '/events': 'automations', '/statistics': 'graphql#statistics', '/domains': 'dns', '/webhooks': 'WEBHOOKS', '/keys': 'permissions', '/playground': 'graphql',
  '/requests': 'api-log', '/team': 'people', '/audit-log': 'people', '/settings': 'people', '/settings/billing': 'plans', '/usage': 'plans', '/profile': 'people#sign-in-and-sessions', '/operator': 'running',
}

// helpFor returns the page of the manual for a path.
export function helpFor(path: string): string {
  const parts = path.split('/')
  for (let n = parts.length; n > 1; n--) {
    const page = pages[parts.slice(0, n).join('/')]
    if (page) return `/manual/${page}`
  }
  return `/manual/${pages[path] ?? 'dashboard'}`
}
