import { Outlet, useRouterState } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, type ReactNode } from 'react'
import { useStore } from '@/api/store'
import { Failure } from '@/parts/Failure'
import { door } from '@/api/door'
import type { Screen } from '../screen'
import { toasts } from '../toasts'
import { allowed, rereadViewer, useViewer, useViewerState, ViewerContext } from '../viewer'
import { Banners } from './Banners'
import { withQueries } from '../withQueries'
import { useShortcuts } from './shortcuts'
import { SideBar } from './SideBar'
import { paletteOpen } from './state'

const MissingPage = lazy(() => import('../MissingPage'))
const loadPalette = () => import('./Palette')
const Palette = lazy(() => withQueries(loadPalette))
const MenuMarks = lazy(() => withQueries(() => import('./MenuMarks')))
const Toasts = lazy(() => import('./Toasts'))
const DoorDialog = lazy(() => import('./DoorDialog'))

// Shell is what stands around every page: it knows who is signed in.
export function Shell() {
  const { viewer, error } = useViewerState()
  if (error !== undefined && !viewer) {
    return <main className="mx-auto grid min-h-dvh max-w-[480px] content-center p-6"><Failure error={error} retry={() => void rereadViewer()} /></main>
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
  const asked = useStore(door)
  const palette = useStore(paletteOpen)
  const told = useStore(toasts).length > 0
  useShortcuts()
  useTitle()
  useEffect(() => {
    if (account && viewer.has('eventlog') && viewer.can('READ')) void import('@/api/follow').then(({ goLive }) => goLive(account))
  }, [account]) // the rights of an account do not change without a new page
  // The palette is there when its key is pressed, so that what is typed at once is not lost.
  useEffect(() => {
    const idle = window.requestIdleCallback?.(() => void loadPalette().catch(() => {}), { timeout: 5000 })
    return () => { if (idle) window.cancelIdleCallback(idle) }
  }, [])
  return (
    <div className="grid h-dvh grid-cols-1 md:grid-cols-[var(--side)_minmax(0,1fr)]">
      <a href="#content" className="fixed -top-12 left-2 z-[90] rounded-control bg-raised px-3 py-2 shadow-pop focus:top-2">Skip to content</a>
      <SideBar />
      <Suspense fallback={null}><MenuMarks /></Suspense>
      <div className="flex h-dvh min-w-0 flex-col bg-surface md:border-l md:border-line">
        <Banners />
        <main id="content" tabIndex={-1} className="flex min-h-0 flex-1 flex-col">
          <Outlet />
        </main>
      </div>
      <Suspense>
        {told && <Toasts />}
        {palette && <Palette />}
        {asked && <DoorDialog ask={asked} />}
      </Suspense>
    </div>
  )
}

// Guard keeps a screen from who may not see it.
export function Guard({ screen, children }: { screen: Screen; children: ReactNode }) {
  const viewer = useViewer()
  return allowed(screen, { ...viewer, can: viewer.rights }) ? children : <Suspense><MissingPage /></Suspense>
}

function useTitle() {
  const title = useRouterState({ select: (s) => s.matches.at(-1)?.staticData.title })
  useEffect(() => {
    document.title = title ? `${title} · Postrider` : 'Postrider'
  }, [title])
}
