import { expect, test } from 'vitest'
import { filterOf } from './data'

test('the filter is read as it is written', () => {
  expect(filterOf('method:post status:4xx path:/api/emails key:key_1').filter).toEqual({ method: 'POST', status_from: 400, status_below: 500, path: '/api/emails', api_key_id: 'key_1' })
  expect(filterOf('/api/domains status:429').filter).toEqual({ path: '/api/domains', status_from: 429, status_below: 430 })
  expect(filterOf('msg_1 req_2').filter).toEqual({ email_id: 'msg_1', request_id: 'req_2' })
})

test('what cannot be is named', () => {
  expect(filterOf('status:teapot').wrong).toContain('teapot')
  expect(filterOf('receipt').wrong).toContain('receipt')
})
