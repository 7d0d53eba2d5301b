import { Braces, Download, Sheet } from 'lucide-react'
import { useEffect, useState } from 'react'
import { download, type DownloadProgress } from '@/api/download'
import { toast } from '@/app/toasts'
import { Dialog } from './Dialog'
import { ErrorAlert } from './ErrorAlert'
import { formatBytes, saveFile } from './file'
import { Menu } from './Menu'

interface Props {
  // noun is the plural of the exported object, for example "emails".
  noun: string
  // path is the path of the export below /api.
  path: string
  // filter is the filter of the list as REST parameters; undefined if it is invalid.
  filter: Record<string, string | null | undefined> | undefined
}

// ExportButton downloads the complete filtered list as a file.
export function ExportButton({ noun, path, filter }: Props) {
  const [url, setUrl] = useState<string>()
  const start = (format: string) => {
    const params = Object.entries({ ...filter, format }).filter((pair): pair is [string, string] => Boolean(pair[1]))
    setUrl(`${path}?${new URLSearchParams(params)}`)
  }
  return (
    <>
      <Menu
        label="Export"
        entries={[
          { name: 'CSV', icon: Sheet, run: () => start('csv') },
          { name: 'JSON Lines', icon: Braces, run: () => start('jsonl') },
        ]}
      >
        <button type="button" className="btn" disabled={!filter} aria-label={`Export ${noun}`}><Download aria-hidden /><span className="max-sm:hidden">Export</span></button>
      </Menu>
      {url && <ExportDialog key={url} noun={noun} address={url} onClose={() => setUrl(undefined)} />}
    </>
  )
}

// ExportDialog shows the progress of an export until the file is saved.
function ExportDialog({ noun, address: url, onClose }: { noun: string; address: string; onClose: () => void }) {
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
