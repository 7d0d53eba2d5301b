import { expect, test } from 'vitest'
import { findPage, needsLookup } from './ids'

const suffix = '01kf0m4w7he6x8q2v5b3n9c1ta'

test('finds the page of what people paste', () => {
  expect(findPage(` msg_${suffix} `)).toEqual({ id: `msg_${suffix}`, name: 'email', path: `/emails/msg_${suffix}` })
  expect(findPage(`<msg_${suffix}@mail.example.com>`)?.path).toBe(`/emails/msg_${suffix}`)
  expect(findPage(`run_${suffix}`)?.path).toBe(`/automations/runs/run_${suffix}`)
  expect(findPage('req_abc')?.path).toBe('/requests?q=request:req_abc')
  expect(findPage('bob@example.net')?.path).toBe('/addresses/bob%40example.net')
  for (const text of ['msg_1', 'receipt', '', 'to:bob@example.net', '@example.net']) expect(findPage(text), text).toBeUndefined()
  expect(needsLookup(`evt_${suffix}`)).toBe(true)
})
