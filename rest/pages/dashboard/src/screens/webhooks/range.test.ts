import { describe, expect, it } from 'vitest'
import { chosen, ranges } from './range'

const now = Date.parse('2026-03-30T10:20:00Z')

describe('the range of the URL', () => {
  it('is the last day by hours unless it says otherwise', () => {
    expect(chosen({ zone: 'UTC' }, now)).toEqual({ range: '24h', name: '24 h', gte: '2026-03-29T11:00:00.000Z', lt: '2026-03-30T11:00:00.000Z', zone: 'UTC', interval: 'HOUR' })
  })
  it('takes whole days of the zone, by hours where they fit', () => {
    expect(chosen({ range: '7d', zone: 'Europe/Vienna' }, now)).toMatchObject({ gte: '2026-03-23T23:00:00.000Z', interval: 'DAY' })
    expect(chosen({ range: '7d', by: 'HOUR' }, now).interval).toBe('HOUR')
    expect(chosen({ range: '30d', by: 'HOUR' }, now).interval).toBe('DAY')
  })
  it('is one for which deliveries are kept', () => {
    expect(ranges.map((r) => r.key)).toEqual(['24h', '7d', '30d'])
    for (const range of ['90d', 'custom', 'x']) expect(chosen({ range }, now).range).toBe('24h')
  })
})
