import { guarded } from './rest'
import { Failed, failureOf } from './failed'
import { rowCounter } from './rows'

export interface Received {
  octets: number
  rows: number
}

export interface Download extends Received {
  blob: Blob
  name: string
}

const told = 100 // ms between two words on how far it is
const packed = 8 << 20 // octets that are handed to the browser, which keeps blobs on disk

// download reads an answer of many records as it comes. It is whole, or it throws: a connection that
// breaks off in between rejects.
export async function download(path: string, signal: AbortSignal, tell: (so: Received) => void): Promise<Download> {
  const response = await guarded(new Request(`/api${path}`, { signal }))
  if (!response.ok || !response.body) throw await failureOf(response)
  const type = response.headers.get('Content-Type') ?? ''
  const countRows = rowCounter(type.startsWith('text/csv'))
  const so: Received = { octets: 0, rows: 0 }
  let parts: BlobPart[] = []
  let waiting = 0
  let last = 0
  const reader = response.body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      parts.push(value)
      waiting += value.length
      so.octets += value.length
      so.rows = countRows(value)
      if (waiting >= packed) {
        parts = [new Blob(parts)]
        waiting = 0
      }
      if (performance.now() - last >= told) {
        last = performance.now()
        tell({ ...so })
      }
    }
  } catch (error) {
    if (signal.aborted) throw error
    throw new Failed(`The export broke off after ${so.rows.toLocaleString('en')} rows. Nothing was saved.`, { requestId: response.headers.get('X-Request-Id') ?? '' })
  }
  return { ...so, blob: new Blob(parts, { type }), name: nameOf(response) }
}

const nameOf = (response: Response) => /filename="([^"/\\]+)"/.exec(response.headers.get('Content-Disposition') ?? '')?.[1] ?? 'export'
