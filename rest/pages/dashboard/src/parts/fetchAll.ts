import type { Document } from '@/api/document'
import { query } from '@/api/graphql'

// maxSelection is the maximum number of selected rows.
export const maxSelection = 1000

interface Page<Node> {
  nodes: Node[]
  pageInfo: { hasNextPage: boolean; endCursor?: string | null }
}

// fetchAll fetches the rows of a filtered list, up to `limit`, newest first.
export async function fetchAll<Data, V extends { after?: string | null }, Node>(document: Document<Data, V>, variables: Omit<V, 'after'>, pick: (data: Data) => Page<Node>, signal: AbortSignal, onProgress: (read: number) => void, limit = maxSelection): Promise<{ nodes: Node[]; more: boolean }> {
  const nodes: Node[] = []
  for (let after: string | null = null; ;) {
    const page: Page<Node> = pick(await query(document, { ...variables, after } as V, signal))
    nodes.push(...page.nodes)
    const more = page.pageInfo.hasNextPage
    if (!more || nodes.length >= limit) return { nodes: nodes.slice(0, limit), more: more || nodes.length > limit }
    onProgress(nodes.length)
    after = page.pageInfo.endCursor ?? null
  }
}
