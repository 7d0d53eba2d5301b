import { store } from '@/api/store'
import { examples } from './examples'

// What the page holds in memory, and nowhere else: a reload forgets it.
export interface Key {
  secret: string
  // id and ends are known of a key that was made here.
  id?: string
  ends?: string
}

export const key = store<Key | null>(null)

export const draft = store({ query: examples[0]?.query ?? '', variables: '{}' })
