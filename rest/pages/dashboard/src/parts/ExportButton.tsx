import { Braces, Download, Sheet } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { Menu } from './Menu'

const ExportDialog = lazy(() => import('./ExportDialog'))

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
      {url && <Suspense><ExportDialog key={url} noun={noun} address={url} onClose={() => setUrl(undefined)} /></Suspense>}
    </>
  )
}
