import { Download, Paperclip } from 'lucide-react'
import { useState } from 'react'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { readWhole, type Received } from './Message'
import { decodeBase64, formatBytes, saveFile } from '@/parts/file'

// Files lists the attachments. They are untrusted, so they can be saved but are never shown.
export function Files({ mail }: { mail: Received }) {
  const [busy, setBusy] = useState(-1)
  const [error, setError] = useState<unknown>(null)
  const [last, setLast] = useState(0)
  async function download(index: number) {
    setBusy(index)
    setLast(index)
    setError(null)
    try {
      const file = (await readWhole(mail.id)).attachments[index]
      if (!file?.data) throw new Error('The content and attachments were deleted after the retention period.')
      saveFile([decodeBase64(file.data)], file.filename || `file-${index + 1}`)
    } catch (e) {
      setError(e)
    } finally {
      setBusy(-1)
    }
  }
  return (
    <div className="grid gap-2">
      {error !== null && <ErrorAlert error={error} retry={() => void download(last)} />}
      <ul className="grid">
        {mail.attachments.map((a, i) => (
          <li key={i} className="flex min-h-11 items-center gap-2 border-b border-line-soft last:border-0">
            <Paperclip aria-hidden className="text-ink-3" />
            <span className="min-w-0 flex-1">
              <b className="block truncate font-medium">{a.filename || `file-${i + 1}`}</b>
              <span className="block truncate text-xs text-ink-3">{a.contentType} · {formatBytes(a.size)}{a.inline && ' · inline'}</span>
            </span>
            <button type="button" className="btn sm" disabled={busy === i || !mail.content} aria-label={`Download ${a.filename || `file ${i + 1}`}`} onClick={() => void download(i)}><Download aria-hidden />Download</button>
          </li>
        ))}
      </ul>
    </div>
  )
}
