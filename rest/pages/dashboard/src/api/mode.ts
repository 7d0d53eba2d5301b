// Each tab has its own mode, so that switching one tab does not change what another one shows.
const key = 'postrider-mode'

const read = () => {
  try {
    return globalThis.sessionStorage?.getItem(key) === 'test'
  } catch {
    return false // storage is disabled
  }
}

// testMode reports whether this tab shows test mode. It changes only with a page load.
export const testMode = read()

// withMode adds the mode to a request of the API.
export function withMode(input: Request | string, init?: RequestInit): [Request | string, RequestInit?] {
  if (!testMode) return [input, init]
  const path = new URL(typeof input === 'string' ? input : input.url, location.href).pathname
  if (path !== '/graphql' && !path.startsWith('/api/')) return [input, init]
  const headers = new Headers(init?.headers ?? (typeof input === 'string' ? undefined : input.headers))
  headers.set('Postrider-Mode', 'test')
  return [input, { ...init, headers }]
}

// switchMode loads the first page of the other mode.
export function switchMode(test: boolean) {
  if (test) sessionStorage.setItem(key, 'test')
  else sessionStorage.removeItem(key)
  location.assign(test ? '/test-inbox' : '/')
}
