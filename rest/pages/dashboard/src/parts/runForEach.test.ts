import { describe, expect, it } from 'vitest'
import { ApiError } from '@/api/errors'
import { runForEach } from './runForEach'

const ids = Array.from({ length: 10 }, (_, i) => `id${i}`)

describe('runForEach', () => {
  it('returns successes and errors', async () => {
    const progress: number[] = []
    let now = 0
    let most = 0
    const result = await runForEach(ids, {
      isStopped: () => false, onProgress: (n) => progress.push(n),
      run: async (id) => {
        most = Math.max(most, ++now)
        await Promise.resolve()
        now--
        if (id === 'id3') throw new ApiError('The email is not scheduled', { status: 409, code: 'email_not_scheduled' })
      },
    })
    expect(result.done).toHaveLength(9)
    expect([...result.failed]).toEqual([['id3', 'The email is not scheduled']])
    expect(result.untried).toEqual([])
    expect(progress.at(-1)).toBe(10)
    expect(most).toBe(4)
  })
  it('waits for the time that the server asks for', async () => {
    const waits: number[] = []
    let refusals = 0
    const result = await runForEach(['a'], {
      isStopped: () => false, onProgress: () => {}, wait: async (ms) => { waits.push(ms) },
      run: async () => { if (refusals++ < 2) throw new ApiError('slow down', { status: 429, code: 'rate_limit_exceeded', retryAfter: 3 }) },
    })
    expect(result.done).toEqual(['a'])
    expect(waits).toEqual([3000, 3000])
  })
  it('stops waiting after some retries, and never waits for a plan limit', async () => {
    const fast = await runForEach(['a'], { isStopped: () => false, onProgress: () => {}, wait: async () => {}, run: async () => { throw new ApiError('slow down', { status: 429, code: 'rate_limit_exceeded' }) } })
    expect([...fast.failed.values()]).toEqual(['slow down'])
    let tried = 0
    const cap = await runForEach(['a'], { isStopped: () => false, onProgress: () => {}, run: async () => { tried++; throw new ApiError('The plan limit is reached', { status: 429, code: 'plan_limit' }) } })
    expect([tried, ...cap.failed.values()]).toEqual([1, 'The plan limit is reached'])
  })
  it('leaves the rest when it is stopped', async () => {
    let stop = false
    const result = await runForEach(ids, { concurrency: 1, isStopped: () => stop, onProgress: (n) => { stop = n === 3 }, run: async () => {} })
    expect([result.done, result.untried]).toEqual([ids.slice(0, 3), ids.slice(3)])
  })
  it('leaves the rest when the server is unreachable', async () => {
    const result = await runForEach(ids, { concurrency: 1, isStopped: () => false, onProgress: () => {}, run: async (id) => { if (id === 'id2') throw new ApiError('unreachable', { code: 'unreachable' }) } })
    expect([result.done, result.untried.toSorted(), result.abortReason]).toEqual([ids.slice(0, 2), ids.slice(2), 'unreachable'])
  })
})
