import { createContext, useContext } from 'react'
import { whenStorageReady, waitUntilUp } from '@/api/connection'
import { appShown } from '@/api/authPrompt'
import { ApiError } from '@/api/errors'
import { testMode } from '@/api/mode'
import { query } from '@/api/query'
import { store, useStore } from '@/api/store'
import { DevelopmentSeeds, type DevelopmentSeedsQuery } from './development.gen'
import type { Screen } from './screen'
import { Viewer, type Right, type ViewerQuery } from './viewer.gen'

export type { Right }

// Ability is a right, or DEFINE: to change what both modes share.
export type Ability = Right | 'DEFINE'
export type Development = NonNullable<DevelopmentSeedsQuery['viewer']['development']>
type ViewerData = ViewerQuery['viewer']

// CurrentViewer is the signed-in user with their account and rights.
export interface CurrentViewer extends ViewerData {
  development: Development | null
}

async function readViewer(): Promise<CurrentViewer> {
  const { viewer } = await query(Viewer, {})
  const development = viewer.modules.includes('development') ? (await query(DevelopmentSeeds, {})).viewer.development : null
  return { ...viewer, development }
}

const state = store<{ viewer?: CurrentViewer; error?: unknown }>({})

export const useViewerState = () => useStore(state)

// reloadViewer fetches the viewer again, for example after a change of the account, the user's name or the plan.
export async function reloadViewer(): Promise<void> {
  try {
    state.set({ viewer: await readViewer() })
    appShown.set(true)
  } catch (error) {
    state.set({ viewer: state.get().viewer, error })
    if (!state.get().viewer && error instanceof ApiError) retryWhenAvailable(error)
  }
}

const reload = () => void reloadViewer()

// retryWhenAvailable loads the viewer once the server is reachable and has storage.
function retryWhenAvailable(error: ApiError) {
  if (error.status === 503) whenStorageReady(reload)
  else if (error.status === 0) void waitUntilUp().then(() => setTimeout(reload, 1000))
}

export const ViewerContext = createContext<CurrentViewer | null>(null)

export function useViewer() {
  const viewer = useContext(ViewerContext)
  if (!viewer) throw new Error('useViewer requires a ViewerContext')
  return {
    ...viewer,
    // rights lists what the role allows; `can` checks one of them.
    rights: viewer.can,
    // Test mode shares domains, templates and automations with live mode, and cannot change them.
    can: (right: Ability) => (right === 'DEFINE' ? !testMode && viewer.can.includes('WRITE') : viewer.can.includes(right)),
    has: (module: string) => viewer.modules.includes(module),
  }
}

// canView reports whether the viewer can see a screen.
export function canView(screen: Screen, viewer: CurrentViewer): boolean {
  if (testMode ? !screen.test : screen.test === 'only') return false
  if ([screen.module ?? []].flat().some((m) => !viewer.modules.includes(m))) return false
  if (screen.right && !viewer.can.includes(screen.right)) return false
  return !screen.operator || viewer.operator
}
