import { fetchWithAuth } from './rest'
import { ApiError, readError } from './errors'
import { rowCounter } from './rows'

export interface DownloadProgress {
  bytes: number
  rows: number
}

export interface Download extends DownloadProgress {
  blob: Blob
  name: string
}

const progressInterval = 100 // ms between progress reports
const blobThreshold = 8 << 20 // bytes; larger parts become blobs, which browsers keep on disk

// download streams an export. It throws if the connection breaks, so a returned export is complete.
export async function download(path: string, signal: AbortSignal, onProgress: (progress: DownloadProgress) => void): Promise<Download> {
  const response = await fetchWithAuth(new Request(`/api${path}`, { signal }))
  if (!response.ok || !response.body) throw await readError(response)
  const type = response.headers.get('Content-Type') ?? ''
  const countRows = rowCounter(type.startsWith('text/csv'))
  const progress: DownloadProgress = { bytes: 0, rows: 0 }
  let parts: BlobPart[] = []
  let pendingBytes = 0
  let lastReport = 0
  const reader = response.body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      parts.push(value)
      pendingBytes += value.length
      progress.bytes += value.length
      progress.rows = countRows(value)
      if (pendingBytes >= blobThreshold) {
        parts = [new Blob(parts)]
        pendingBytes = 0
      }
      if (performance.now() - lastReport >= progressInterval) {
        lastReport = performance.now()
        onProgress({ ...progress })
      }
    }
  } catch (error) {
    if (signal.aborted) throw error
    throw new ApiError(`The export stopped after ${progress.rows.toLocaleString('en')} ${progress.rows === 1 ? 'row' : 'rows'}. No file was saved.`, { requestId: response.headers.get('X-Request-Id') ?? '' })
  }
  return { ...progress, blob: new Blob(parts, { type }), name: parseFilename(response) }
}

const parseFilename = (response: Response) => /filename="([^"/\\]+)"/.exec(response.headers.get('Content-Disposition') ?? '')?.[1] ?? 'export'
