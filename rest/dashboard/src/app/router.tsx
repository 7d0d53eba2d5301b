import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import { PendingPage } from './PendingPage'
import { screens } from './registry'
import { withQueries } from './withQueries'
import { Guard, Shell } from './shell/Shell'

const page = (name: 'MissingPage' | 'CrashPage') => lazyRouteComponent(() => Promise.all([import('./pages'), import('./screens.css')]).then(([pages]) => ({ default: pages[name] as never })))

const root = createRootRoute({ component: Shell, notFoundComponent: page('MissingPage') })

const routes = screens.flatMap((screen) =>
  screen.routes.map(({ path, title, load }) =>
    createRoute({
      getParentRoute: () => root,
      path,
      staticData: { title, screen },
      component: lazyRouteComponent(async () => {
        const { default: Page } = await withQueries(load)
        return { default: () => <Guard screen={screen}><Page /></Guard> }
      }),
    }),
  ),
)

// Search parameters are plain texts: TanStack's own serializer quotes what looks like a number.
export const parseSearch = (text: string): Record<string, string> => Object.fromEntries(new URLSearchParams(text))

export function stringifySearch(search: Record<string, unknown>): string {
  const pairs = Object.entries(search).filter(([, v]) => v !== undefined && v !== null && v !== '').map(([k, v]) => [k, String(v)])
  const text = new URLSearchParams(pairs as [string, string][]).toString()
  return text ? `?${text}` : ''
}

export const router = createRouter({
  routeTree: root.addChildren(routes),
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  defaultPendingComponent: PendingPage,
  defaultErrorComponent: page('CrashPage'),
  defaultPendingMs: 150,
  scrollRestoration: false,
})

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    title?: string
    screen?: unknown
  }
}
