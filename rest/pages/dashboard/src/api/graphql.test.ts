import { expect, test, vi } from 'vitest'
import { nextPageOf, reversePage } from './graphql'

test('turns a page from the end of a list around', () => {
  expect(reversePage({ nodes: [3, 2, 1], pageInfo: { hasNextPage: false, endCursor: 'c1', hasPreviousPage: true, startCursor: 'c3' } })).toEqual({ nodes: [1, 2, 3], pageInfo: { hasNextPage: true, endCursor: 'c3' } })
  expect(reversePage({ nodes: [], pageInfo: { hasNextPage: true } }).pageInfo.hasNextPage).toBe(false)
})

test('offers the next page of a list again after a request that was in progress', () => {
  const list = { hasNextPage: true, isFetching: true, isError: false, fetchNextPage: vi.fn() }
  expect(nextPageOf(list)).toBeUndefined()
  nextPageOf({ ...list, isFetching: false })?.()
  expect(list.fetchNextPage).toHaveBeenCalledOnce()
  expect(nextPageOf({ ...list, isFetching: false, isError: true })).toBeUndefined()
  expect(nextPageOf({ ...list, isFetching: false, hasNextPage: false })).toBeUndefined()
})
