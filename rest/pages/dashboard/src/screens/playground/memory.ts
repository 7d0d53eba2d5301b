import { store } from '@/api/store'
import { examples } from './examples'

// The state that is kept only in memory: a reload discards it.
export interface Key {
  secret: string
  // id and ends are set for a key that was created here.
  id?: string
  ends?: string
}

export const key = store<Key | null>(null)

export const draft = store({ query: examples[0]?.query ?? '', variables: '{}' })
