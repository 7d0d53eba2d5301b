import type { ComponentType } from 'react'

// withQueries loads a part together with what it needs to read: the first page does without.
export async function withQueries(load: () => Promise<{ default: ComponentType }>): Promise<{ default: ComponentType }> {
  const [{ default: Part }, { default: Queries }] = await Promise.all([load(), import('./Queries'), import('./screens.css')])
  return { default: () => <Queries><Part /></Queries> }
}
