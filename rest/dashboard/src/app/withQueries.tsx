import type { ComponentType } from 'react'
import { untilUp } from '@/api/connection'

type Load = () => Promise<{ default: ComponentType }>

// withQueries loads a part together with what it needs to read: the first page does without. Where the
// service is away, the part is loaded once it is back.
export async function withQueries(load: Load): Promise<{ default: ComponentType }> {
  const all = () => Promise.all([load(), import('./Queries'), import('./screens.css')])
  const [{ default: Part }, { default: Queries }] = await all().catch(async (error: unknown) => {
    if (await untilUp()) return all()
    throw error // the service answers, and does not have this part: it was upgraded
  })
  return { default: () => <Queries><Part /></Queries> }
}
