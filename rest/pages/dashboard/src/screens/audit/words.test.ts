import { expect, it } from 'vitest'
import { changesOf, nameOfTarget } from './words'

it('shows the old and the new value where both are known', () => {
  expect(changesOf({ email: 'bob@example.net', from: 'viewer', to: 'admin' })).toEqual([{ field: 'change', before: 'viewer', after: 'admin' }, { field: 'email', after: 'bob@example.net' }])
  expect(changesOf({ enabled: { from: true, to: false } })).toEqual([{ field: 'enabled', before: 'true', after: 'false' }])
  expect(changesOf({ name: 'web', domain_ids: ['dom_1'] })).toEqual([{ field: 'name', after: 'web' }, { field: 'domain_ids', after: '["dom_1"]' }])
  expect(changesOf(null)).toEqual([])
})

it('names the object', () => {
  expect(nameOfTarget({ email: 'bob@example.net' })).toBe('bob@example.net')
  expect(nameOfTarget({ url: { from: 'https://a.example', to: 'https://b.example' } })).toBe('https://b.example')
  expect(nameOfTarget(null)).toBeUndefined()
})
