import { useEffect, useState } from 'react'
import { download, type DownloadProgress } from '@/api/download'
import { toast } from '@/app/toasts'
import { Dialog } from './Dialog'
import { ErrorAlert } from './ErrorAlert'
import { formatBytes, saveFile } from './file'

// ExportDialog shows the progress of an export until the file is saved.
export default function ExportDialog({ noun, address: url, onClose }: { noun: string; address: string; onClose: () => void }) {
  const [progress, setProgress] = useState<DownloadProgress>({ bytes: 0, rows: 0 })
  const [error, setError] = useState<unknown>()
  const [attempt, setAttempt] = useState(0)
  useEffect(() => {
    const abort = new AbortController()
    setError(undefined)
    setProgress({ bytes: 0, rows: 0 })
    async function run() {
      try {
        const file = await download(url, abort.signal, setProgress)
        saveFile([file.blob], file.name, file.blob.type)
        toast.success(`${file.name}: ${formatRows(file.rows)}, ${formatBytes(file.bytes)}`)
        onClose()
      } catch (e) {
        if (!abort.signal.aborted) setError(e)
      }
    }
    // Strict mode mounts twice, but an account can run only one export at a time.
    const timer = setTimeout(() => void run())
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [url, attempt])
  return (
    <Dialog title={error === undefined ? `Exporting ${noun}…` : `Couldn’t export ${noun}`} onClose={onClose} actions={<button type="button" className="btn" onClick={onClose}>{error === undefined ? 'Cancel' : 'Close'}</button>}>
      {error === undefined ? (
        <>
          <progress aria-label="Export" className="h-1.5 w-full accent-accent-fill" />
          <p className="text-ink-2 tabular-nums">{progress.bytes === 0 ? 'Preparing export…' : `${formatRows(progress.rows)}, ${formatBytes(progress.bytes)} received`}</p>
        </>
      ) : <ErrorAlert error={error} retry={() => setAttempt(attempt + 1)} />}
    </Dialog>
  )
}

const formatRows = (rows: number) => `${rows.toLocaleString('en')} ${rows === 1 ? 'row' : 'rows'}`
