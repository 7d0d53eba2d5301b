import { describe, expect, it } from 'vitest'
import { choiceOf, emailsOf, goTogether, searchTerm } from './range'
import { axisOf } from './scale'
import { addDays, dayIn, startOf } from './zone'

const now = Date.parse('2026-03-30T10:20:00Z')

describe('days of a zone', () => {
  it('begin by its clock, also around the day on which it changes', () => {
    expect(new Date(startOf('2026-03-29', 'Europe/Vienna')).toISOString()).toBe('2026-03-28T23:00:00.000Z')
    expect(new Date(startOf('2026-03-30', 'Europe/Vienna')).toISOString()).toBe('2026-03-29T22:00:00.000Z')
    expect(new Date(startOf('2026-01-01', 'Pacific/Auckland')).toISOString()).toBe('2025-12-31T11:00:00.000Z')
  })
  it('are named by its calendar', () => {
    expect(dayIn(Date.parse('2026-03-30T23:30:00Z'), 'Asia/Tokyo')).toBe('2026-03-31')
    expect(addDays('2026-02-28', 1)).toBe('2026-03-01')
  })
})

describe('the choice of the URL', () => {
  it('takes whole days, the last one included', () => {
    const c = choiceOf({ range: 'custom', from: '2026-03-01', to: '2026-03-02', zone: 'UTC' }, now)
    expect([c.gte, c.lt, c.interval]).toEqual(['2026-03-01T00:00:00.000Z', '2026-03-03T00:00:00.000Z', 'HOUR'])
  })
  it('does without what makes no sense', () => {
    const c = choiceOf({ range: 'x', by: 'HOUR', zone: 'Nowhere/Here', group: 'x', only: 'x:y' }, now)
    expect([c.range, c.group, c.filter]).toEqual(['7d', 'DOMAIN', null])
    expect(choiceOf({ range: '90d', by: 'HOUR', zone: 'UTC' }, now).interval).toBe('DAY')
  })
  it('leaves a grouping that does not go with the filter', () => {
    expect(goTogether('RECIPIENT_DOMAIN', 'TAG')).toBe(false)
    expect(choiceOf({ only: 'TAG:kind=receipt', group: 'BOUNCE_CLASS', zone: 'UTC' }, now)).toMatchObject({ group: 'DOMAIN', filter: { tag: { name: 'kind', value: 'receipt' } } })
  })
})

describe('the emails behind a point', () => {
  it('are asked by time and filter', () => {
    const c = choiceOf({ only: 'DOMAIN:dom_1', zone: 'UTC' }, now)
    expect(emailsOf(c, '2020-01-01T00:00:00.000Z', '2020-01-02T00:00:00.000Z', 'is:bounced').q).toBe('domain:dom_1 is:bounced after:2020-01-01T00:00:00Z before:2020-01-02T00:00:00Z')
  })
  it('cannot be asked by API key', () => expect(searchTerm(choiceOf({ only: 'API_KEY:key_1' }, now).only)).toBeUndefined())
})

it('an axis ends at or above the largest figure', () => {
  expect(axisOf(53, true)).toEqual({ top: 60, ticks: [0, 20, 40, 60] })
  expect(axisOf(0, true).top).toBe(4)
  expect(axisOf(0.014, false).top).toBeCloseTo(0.015)
})
