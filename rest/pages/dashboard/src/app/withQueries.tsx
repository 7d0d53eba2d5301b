import type { ComponentType } from 'react'
import { waitUntilUp } from '@/api/connection'

type Load = () => Promise<{ default: ComponentType }>

// withQueries loads a component together with the query client, which the first load does not contain.
// During an outage, it loads the component once the server is reachable again.
export async function withQueries(load: Load): Promise<{ default: ComponentType }> {
  const loadAll = () => Promise.all([load(), import('./Queries'), import('./screens.css')])
  const [{ default: Component }, { default: Queries }] = await loadAll().catch(async (error: unknown) => {
    if (await waitUntilUp()) return loadAll()
    throw error // the server is reachable but no longer has this chunk: it was upgraded
  })
  return { default: () => <Queries><Component /></Queries> }
}
