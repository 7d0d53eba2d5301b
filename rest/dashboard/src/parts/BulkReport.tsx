import { Download } from 'lucide-react'
import { Dialog } from './Dialog'
import { csvOf, save } from './file'

export interface Report {
  action: string
  done: number
  refused: { id: string; name: string; why: string }[]
}

// BulkReport says of each that was refused why, in the words of who refused.
export function BulkReport({ report, noun, onClose }: { report: Report; noun: [string, string]; onClose: () => void }) {
  const { action, done, refused } = report
  const saved = () => save([csvOf([['id', noun[0], 'why'], ...refused.map((r) => [r.id, r.name, r.why])])], `${action.toLowerCase().replaceAll(' ', '-')}-refused.csv`, 'text/csv')
  return (
    <Dialog
      wide title={`${action}: ${refused.length} of ${done + refused.length} refused`} onClose={onClose}
      actions={<><button type="button" className="btn" onClick={saved}><Download aria-hidden />Report as CSV</button><button type="button" className="btn primary" onClick={onClose}>Close</button></>}
    >
      <p className="text-ink-2">{done} done. Those that were refused stay selected, to be tried again.</p>
      <div className="max-h-[320px] overflow-auto rounded-control border border-line" tabIndex={0} role="group" aria-label="Refused">
        <table className="w-full table-fixed border-collapse text-left">
          <thead className="sticky top-0 bg-raised"><tr className="h-8 text-xs text-ink-3"><th scope="col" className="w-2/5 px-3 font-medium first-letter:uppercase">{noun[0]}</th><th scope="col" className="px-2 font-medium">Why</th></tr></thead>
          <tbody>
            {refused.map((r) => (
              <tr key={r.id} className="border-t border-line-soft align-top">
                <td className="px-3 py-1.5 wrap-anywhere" title={r.id}>{r.name}</td>
                <td className="px-2 py-1.5 text-bad wrap-anywhere">{r.why}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Dialog>
  )
}
