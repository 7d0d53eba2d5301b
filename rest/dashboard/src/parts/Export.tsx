import { Braces, Download, Sheet } from 'lucide-react'
import { useEffect, useState } from 'react'
import { download, type Received } from '@/api/download'
import { toast } from '@/app/toasts'
import { Dialog } from './Dialog'
import { Failure } from './Failure'
import { octets, save } from './file'
import { Menu } from './Menu'

interface Props {
  // what is exported, as "emails".
  noun: string
  // path of the export below /api.
  path: string
  // filter is that of the list, by the parameters of REST; undefined: the filter is wrong.
  filter: Record<string, string | null | undefined> | undefined
}

// ExportButton gives the person the list that they see, whole, as a file.
export function ExportButton({ noun, path, filter }: Props) {
  const [address, setAddress] = useState<string>()
  const start = (format: string) => {
    const given = Object.entries({ ...filter, format }).filter((pair): pair is [string, string] => Boolean(pair[1]))
    setAddress(`${path}?${new URLSearchParams(given)}`)
  }
  return (
    <>
      <Menu
        label="Export"
        entries={[
          { name: 'CSV, for spreadsheets', icon: Sheet, run: () => start('csv') },
          { name: 'JSON Lines, for programs', icon: Braces, run: () => start('jsonl') },
        ]}
      >
        <button type="button" className="btn" disabled={!filter} aria-label={`Export ${noun}`}><Download aria-hidden /><span className="max-sm:hidden">Export</span></button>
      </Menu>
      {address && <Exporting key={address} noun={noun} address={address} onClose={() => setAddress(undefined)} />}
    </>
  )
}

// Exporting shows how far an export is, until it is saved.
function Exporting({ noun, address, onClose }: { noun: string; address: string; onClose: () => void }) {
  const [so, setSo] = useState<Received>({ octets: 0, rows: 0 })
  const [error, setError] = useState<unknown>()
  const [again, setAgain] = useState(0)
  useEffect(() => {
    const ended = new AbortController()
    setError(undefined)
    setSo({ octets: 0, rows: 0 })
    async function run() {
      try {
        const got = await download(address, ended.signal, setSo)
        save([got.blob], got.name, got.blob.type)
        toast.ok(`${got.name}: ${counted(got.rows)}, ${octets(got.octets)}`)
        onClose()
      } catch (e) {
        if (!ended.signal.aborted) setError(e)
      }
    }
    // Strict mode mounts twice, and an account has one export at a time.
    const begin = setTimeout(() => void run())
    return () => {
      clearTimeout(begin)
      ended.abort()
    }
  }, [address, again])
  return (
    <Dialog title={error === undefined ? `Exporting ${noun}…` : `The ${noun} are not exported`} onClose={onClose} actions={<button type="button" className="btn" onClick={onClose}>{error === undefined ? 'Cancel' : 'Close'}</button>}>
      {error === undefined ? (
        <>
          <progress aria-label="Export" className="h-1.5 w-full accent-accent-fill" />
          <p className="text-ink-2 tabular-nums">{so.octets === 0 ? 'Waiting for the first rows' : `${counted(so.rows)}, ${octets(so.octets)} received`}</p>
        </>
      ) : <Failure error={error} retry={() => setAgain(again + 1)} />}
    </Dialog>
  )
}

const counted = (rows: number) => `${rows.toLocaleString('en')} ${rows === 1 ? 'row' : 'rows'}`
