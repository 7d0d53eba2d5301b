import { createContext, useContext } from 'react'
import { untilStored, untilUp } from '@/api/connection'
import { inside } from '@/api/door'
import { Failed } from '@/api/failed'
import { query } from '@/api/query'
import { store, useStore } from '@/api/store'
import { DevelopmentSeeds, type DevelopmentSeedsQuery } from './development.gen'
import type { Screen } from './screen'
import { Viewer, type Right, type ViewerQuery } from './viewer.gen'

export type { Right }
export type Development = NonNullable<DevelopmentSeedsQuery['viewer']['development']>
type Facts = ViewerQuery['viewer']

// Who is signed in, in which account, and what they may do there.
export interface Person extends Facts {
  development: Development | null
}

async function readViewer(): Promise<Person> {
  const { viewer } = await query(Viewer, {})
  const development = viewer.modules.includes('development') ? (await query(DevelopmentSeeds, {})).viewer.development : null
  return { ...viewer, development }
}

const state = store<{ viewer?: Person; error?: unknown }>({})

export const useViewerState = () => useStore(state)

// rereadViewer asks anew who is here: after a change of the account, of one's name, of the plan.
export async function rereadViewer(): Promise<void> {
  try {
    state.set({ viewer: await readViewer() })
    inside.set(true)
  } catch (error) {
    state.set({ viewer: state.get().viewer, error })
    if (!state.get().viewer && error instanceof Failed) readAgain(error)
  }
}

const reread = () => void rereadViewer()

// readAgain does so by itself while nothing is known of who is here, and the service is away or has no storage.
function readAgain(error: Failed) {
  if (error.status === 503) untilStored(reread)
  else if (error.status === 0) void untilUp().then(() => setTimeout(reread, 1000))
}

export const ViewerContext = createContext<Person | null>(null)

export function useViewer() {
  const viewer = useContext(ViewerContext)
  if (!viewer) throw new Error('no viewer here')
  return {
    ...viewer,
    // rights is what the role may do; `can` asks for one of them.
    rights: viewer.can,
    can: (right: Right) => viewer.can.includes(right),
    has: (module: string) => viewer.modules.includes(module),
  }
}

// allowed tells whether a person may see a screen.
export function allowed(screen: Screen, viewer: Person): boolean {
  if ([screen.module ?? []].flat().some((m) => !viewer.modules.includes(m))) return false
  if (screen.right && !viewer.can.includes(screen.right)) return false
  return !screen.operator || viewer.operator
}
