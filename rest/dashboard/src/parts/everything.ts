import type { Document } from '@/api/document'
import { query } from '@/api/graphql'

// most is how many of a list can be selected.
export const most = 1000

interface Page<Node> {
  nodes: Node[]
  pageInfo: { hasNextPage: boolean; endCursor?: string | null }
}

// everything reads all of a list that its filter leaves, the newest 1,000 at most, or `limit`.
export async function everything<Data, V extends { after?: string | null }, Node>(document: Document<Data, V>, variables: Omit<V, 'after'>, pick: (data: Data) => Page<Node>, signal: AbortSignal, tell: (read: number) => void, limit = most): Promise<{ nodes: Node[]; more: boolean }> {
  const nodes: Node[] = []
  for (let after: string | null = null; ;) {
    const page: Page<Node> = pick(await query(document, { ...variables, after } as V, signal))
    nodes.push(...page.nodes)
    const more = page.pageInfo.hasNextPage
    if (!more || nodes.length >= limit) return { nodes: nodes.slice(0, limit), more: more || nodes.length > limit }
    tell(nodes.length)
    after = page.pageInfo.endCursor ?? null
  }
}
