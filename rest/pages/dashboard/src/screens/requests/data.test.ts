import { expect, test } from 'vitest'
import { filterOf } from './data'

test('the filter is read as it is written', () => {
  expect(filterOf('method:post status:4xx path:/api/emails key:key_1').filter).toEqual({ method: 'POST', status: { gte: 400, lt: 500 }, path: '/api/emails', apiKeyId: 'key_1' })
  expect(filterOf('/api/domains status:429').filter).toEqual({ path: '/api/domains', status: { gte: 429, lt: 430 } })
  expect(filterOf('msg_1 req_2').filter).toEqual({ emailId: 'msg_1', requestId: 'req_2' })
})

test('what cannot be is named', () => {
  expect(filterOf('status:teapot').wrong).toContain('teapot')
  expect(filterOf('receipt').wrong).toContain('receipt')
})
