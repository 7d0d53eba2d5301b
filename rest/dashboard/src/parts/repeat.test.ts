import { describe, expect, it } from 'vitest'
import { Failed } from '@/api/failed'
import { repeat } from './repeat'

const ids = Array.from({ length: 10 }, (_, i) => `id${i}`)

describe('one thing, done to many', () => {
  it('says what was done and what was refused, in the words of who refused', async () => {
    const told: number[] = []
    let now = 0
    let most = 0
    const got = await repeat(ids, {
      stopped: () => false, tell: (n) => told.push(n),
      run: async (id) => {
        most = Math.max(most, ++now)
        await Promise.resolve()
        now--
        if (id === 'id3') throw new Failed('It is not waiting for its time', { status: 409, code: 'email_not_scheduled' })
      },
    })
    expect(got.done).toHaveLength(9)
    expect([...got.refused]).toEqual([['id3', 'It is not waiting for its time']])
    expect(got.left).toEqual([])
    expect(told.at(-1)).toBe(10)
    expect(most).toBe(4)
  })
  it('waits as long as it is told to when it is too fast', async () => {
    const waits: number[] = []
    let refusals = 0
    const got = await repeat(['a'], {
      stopped: () => false, tell: () => {}, wait: async (ms) => { waits.push(ms) },
      run: async () => { if (refusals++ < 2) throw new Failed('slow down', { status: 429, code: 'rate_limit_exceeded', retryAfter: 3 }) },
    })
    expect(got.done).toEqual(['a'])
    expect(waits).toEqual([3000, 3000])
  })
  it('does not wait for ever, nor for a cap of the plan', async () => {
    const fast = await repeat(['a'], { stopped: () => false, tell: () => {}, wait: async () => {}, run: async () => { throw new Failed('slow down', { status: 429, code: 'rate_limit_exceeded' }) } })
    expect([...fast.refused.values()]).toEqual(['slow down'])
    let tried = 0
    const cap = await repeat(['a'], { stopped: () => false, tell: () => {}, run: async () => { tried++; throw new Failed('The plan is used up', { status: 429, code: 'plan_limit' }) } })
    expect([tried, ...cap.refused.values()]).toEqual([1, 'The plan is used up'])
  })
  it('leaves the rest when it is stopped', async () => {
    let stop = false
    const got = await repeat(ids, { atOnce: 1, stopped: () => stop, tell: (n) => { stop = n === 3 }, run: async () => {} })
    expect([got.done, got.left]).toEqual([ids.slice(0, 3), ids.slice(3)])
  })
  it('leaves the rest when the service is away', async () => {
    const got = await repeat(ids, { atOnce: 1, stopped: () => false, tell: () => {}, run: async (id) => { if (id === 'id2') throw new Failed('away', { code: 'unreachable' }) } })
    expect([got.done, got.left.toSorted(), got.ended]).toEqual([ids.slice(0, 2), ids.slice(2), 'away'])
  })
})
