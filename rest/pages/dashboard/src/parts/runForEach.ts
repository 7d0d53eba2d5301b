import { ApiError, errorMessage } from '@/api/errors'

export interface BatchResult {
  done: string[]
  // failed contains the error message of each failed item.
  failed: Map<string, string>
  // untried contains the items that were not tried because the run stopped.
  untried: string[]
  // abortReason is the error that stopped the run.
  abortReason?: string
}

interface Options {
  run: (id: string) => Promise<unknown>
  concurrency?: number
  onProgress: (tried: number) => void
  isStopped: () => boolean
  wait?: (ms: number) => Promise<void>
}

const maxWaits = 5 // waits for the rate limit per item

// runForEach runs an operation on each item, a few at a time. When the server rate limits it, it waits
// for the time that the server asks for.
export async function runForEach(ids: string[], { run, concurrency = 4, onProgress, isStopped, wait = sleep }: Options): Promise<BatchResult> {
  const result: BatchResult = { done: [], failed: new Map(), untried: [] }
  let next = 0
  async function attempt(id: string) {
    for (let waited = 0; ; waited++) {
      try {
        await run(id)
        result.done.push(id)
        return
      } catch (error) {
        const apiError = error instanceof ApiError ? error : undefined
        if (apiError?.code === 'rate_limit_exceeded' && waited < maxWaits && !isStopped()) {
          await wait(Math.max(1, apiError.retryAfter) * 1000)
          continue
        }
        if (apiError?.code === 'unreachable' || apiError?.status === 401) {
          result.abortReason = errorMessage(error)
          result.untried.push(id)
          return
        }
        result.failed.set(id, errorMessage(error))
        return
      }
    }
  }
  await Promise.all(Array.from({ length: concurrency }, async () => {
    while (next < ids.length && !isStopped() && !result.abortReason) {
      await attempt(ids[next++] as string)
      onProgress(result.done.length + result.failed.size)
    }
  }))
  result.untried.push(...ids.slice(next))
  return result
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
