import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import { CrashPage } from './CrashPage'
import { PendingPage } from './PendingPage'
import { parseSearch, stringifySearch } from './searchParser'
import { screens } from './registry'
import { withQueries } from './withQueries'
import { Guard, Shell } from './shell/Shell'

const notFoundPage = lazyRouteComponent(() => withQueries(() => import('./NotFoundPage')))

const root = createRootRoute({ component: Shell, notFoundComponent: notFoundPage })

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
