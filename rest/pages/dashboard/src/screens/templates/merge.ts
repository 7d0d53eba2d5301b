import type { Change, Side } from '@/screens/code/Changes'
import type { Draft } from './draft'

export const names: Record<keyof Draft, string> = {
  name: 'Name', alias: 'Alias', subject: 'Subject', from: 'Sender', replyTo: 'Reply-To', category: 'Category', html: 'HTML', text: 'Text', unsubscribe: 'Unsubscribe link', variables: 'Variables', translations: 'Languages',
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

// merge combines the drafts of two users. A change by only one of them is kept; `choose` resolves fields that
// both have changed.
export function merge(base: Draft, mine: Draft, theirs: Draft, choose: (path: string) => Side): { draft: Draft; changes: Change[] } {
  const changes: Change[] = []
  const draft = { ...theirs } as Record<string, unknown>
  for (const path of Object.keys(names) as (keyof Draft)[]) {
    const [was, my, their] = [base[path], mine[path], theirs[path]]
    if (same(my, their)) continue
    const by = same(was, my) ? 'theirs' : same(was, their) ? 'mine' : 'both'
    changes.push({ path, by, base: was, mine: my, theirs: their })
    if ((by === 'both' ? choose(path) : by) === 'mine') draft[path] = my
  }
  return { draft: draft as unknown as Draft, changes }
}
