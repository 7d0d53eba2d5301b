import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import { CrashPage, MissingPage, PendingPage } from './pages'
import { screens } from './registry'
import { Guard, Shell } from './shell/Shell'

const root = createRootRoute({ component: Shell, notFoundComponent: MissingPage })

const routes = screens.flatMap((screen) =>
  screen.routes.map(({ path, title, load }) =>
    createRoute({
      getParentRoute: () => root,
      path,
      staticData: { title, screen },
      component: lazyRouteComponent(async () => {
        const [{ default: Page }] = await Promise.all([load(), import('./screens.css')])
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
  defaultErrorComponent: CrashPage,
  defaultPendingMs: 150,
  scrollRestoration: false,
})

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    title?: string
    screen?: unknown
  }
}
