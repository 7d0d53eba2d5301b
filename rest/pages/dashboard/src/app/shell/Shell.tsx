import { Outlet, useRouterState } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, type ReactNode } from 'react'
import { testMode } from '@/api/mode'
import { useStore } from '@/api/store'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { loadMenus } from '@/parts/Menu'
import { authPrompt } from '@/api/authPrompt'
import type { Screen } from '../screen'
import { toasts } from '../toasts'
import { canView, reloadViewer, useViewer, useViewerState, ViewerContext } from '../viewer'
import { Banners } from './Banners'
import { withQueries } from '../withQueries'
import { useShortcuts } from './shortcuts'
import { SideBar } from './SideBar'
import { useIdle } from './useIdle'
import { paletteOpen, shortcutsOpen } from './state'

const MovedPage = lazy(() => import('../MovedPage'))
const NotFoundPage = lazy(() => import('../NotFoundPage'))
const loadPalette = () => import('./Palette')
const Palette = lazy(() => withQueries(loadPalette))
const NavAlerts = lazy(() => withQueries(() => import('./NavAlerts')))
const Shortcuts = lazy(() => import('./Shortcuts'))
const Toasts = lazy(() => import('./Toasts'))
const AuthDialog = lazy(() => import('./AuthDialog'))

// Shell is the frame around every page. It provides the viewer.
export function Shell() {
  const { viewer, error } = useViewerState()
  if (error !== undefined && !viewer) {
    return <main className="mx-auto grid min-h-dvh max-w-[480px] content-center p-6"><ErrorAlert error={error} retry={() => void reloadViewer()} /></main>
  }
  if (!viewer) return <div aria-busy="true" className="min-h-dvh" />
  return (
    <ViewerContext value={viewer}>
      <Frame />
    </ViewerContext>
  )
}

function Frame() {
  const viewer = useViewer()
  const account = viewer.account?.id ?? ''
  const prompt = useStore(authPrompt)
  const palette = useStore(paletteOpen)
  const shortcuts = useStore(shortcutsOpen)
  const hasToasts = useStore(toasts).length > 0
  useShortcuts()
  useTitle()
  const idle = useIdle()
  useEffect(() => {
    if (idle && account && !testMode && viewer.has('eventlog') && viewer.can('READ')) void import('@/api/liveUpdates').then(({ startLiveUpdates }) => startLiveUpdates(account))
  }, [idle, account]) // the rights of an account change only with a page load
  // The palette is preloaded, so that it does not lose keys that are typed immediately.
  useEffect(() => {
    if (idle) void Promise.all([loadPalette(), loadMenus()]).catch(() => {})
  }, [idle])
  return (
    <div className="grid h-dvh grid-cols-1 md:grid-cols-[var(--side)_minmax(0,1fr)]">
      <a href="#content" className="fixed -top-12 left-2 z-[90] rounded-control bg-raised px-3 py-2 shadow-pop focus:top-2">Skip to content</a>
      <SideBar idle={idle} />
      {idle && !testMode && !viewer.moved && <Suspense fallback={null}><NavAlerts /></Suspense>}
      <div className="flex h-dvh min-w-0 flex-col bg-surface md:border-l md:border-line">
        <Banners />
        <main id="content" tabIndex={-1} className="flex min-h-0 flex-1 flex-col">
          <Outlet />
        </main>
      </div>
      <Suspense>
        {hasToasts && <Toasts />}
        {palette && <Palette />}
        {shortcuts && <Shortcuts />}
        {prompt && <AuthDialog prompt={prompt} />}
      </Suspense>
    </div>
  )
}

// Guard shows a screen only to users with access.
export function Guard({ screen, children }: { screen: Screen; children: ReactNode }) {
  const viewer = useViewer()
  if (viewer.moved && !screen.operator && screen.right !== 'PERSON') return <Suspense><MovedPage /></Suspense>
  return canView(screen, { ...viewer, can: viewer.rights }) ? children : <Suspense><NotFoundPage /></Suspense>
}

function useTitle() {
  const title = useRouterState({ select: (s) => s.matches.at(-1)?.staticData.title })
  useEffect(() => {
    const name = testMode ? 'Postrider (test mode)' : 'Postrider'
    document.title = title ? `${title} · ${name}` : name
  }, [title])
}
