import { expect, test } from 'vitest'
import { reversePage } from './graphql'

test('turns a page from the end of a list around', () => {
  expect(reversePage({ nodes: [3, 2, 1], pageInfo: { hasNextPage: false, endCursor: 'c1', hasPreviousPage: true, startCursor: 'c3' } })).toEqual({ nodes: [1, 2, 3], pageInfo: { hasNextPage: true, endCursor: 'c3' } })
  expect(reversePage({ nodes: [], pageInfo: { hasNextPage: true } }).pageInfo.hasNextPage).toBe(false)
})
