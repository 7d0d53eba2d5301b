import { Failed, wordsOf } from '@/api/failed'

export interface Outcome {
  done: string[]
  // refused are the words for each of those that were not done.
  refused: Map<string, string>
  // left were not tried: it was stopped, or nothing could be done any more.
  left: string[]
  // ended is why no more were tried.
  ended?: string
}

interface Options {
  run: (id: string) => Promise<unknown>
  atOnce?: number
  tell: (tried: number) => void
  stopped: () => boolean
  wait?: (ms: number) => Promise<void>
}

const patience = 5 // how often one waits for the rate limit

// repeat does one thing to each of many, a few at a time. Where the service asks to slow down, it waits
// as long as it is told.
export async function repeat(ids: string[], { run, atOnce = 4, tell, stopped, wait = pause }: Options): Promise<Outcome> {
  const out: Outcome = { done: [], refused: new Map(), left: [] }
  let next = 0
  async function one(id: string) {
    for (let waited = 0; ; waited++) {
      try {
        await run(id)
        out.done.push(id)
        return
      } catch (error) {
        const known = error instanceof Failed ? error : undefined
        if (known?.code === 'rate_limit_exceeded' && waited < patience && !stopped()) {
          await wait(Math.max(1, known.retryAfter) * 1000)
          continue
        }
        if (known?.code === 'unreachable' || known?.status === 401) {
          out.ended = wordsOf(error)
          out.left.push(id)
          return
        }
        out.refused.set(id, wordsOf(error))
        return
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, async () => {
    while (next < ids.length && !stopped() && !out.ended) {
      await one(ids[next++] as string)
      tell(out.done.length + out.refused.size)
    }
  }))
  out.left.push(...ids.slice(next))
  return out
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
