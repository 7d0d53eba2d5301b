import { Download } from 'lucide-react'
import { Dialog } from './Dialog'
import { toCSV, saveFile } from './file'

export interface Report {
  action: string
  done: number
  failed: { id: string; name: string; reason: string }[]
}

// BulkReport lists the rows that failed, with the error of each.
export function BulkReport({ report, noun, onClose }: { report: Report; noun: [string, string]; onClose: () => void }) {
  const { action, done, failed } = report
  const saveCSV = () => saveFile([toCSV([['id', noun[0], 'reason'], ...failed.map((r) => [r.id, r.name, r.reason])])], `${action.toLowerCase().replaceAll(' ', '-')}-failed.csv`, 'text/csv')
  return (
    <Dialog
      wide title={`${action}: ${failed.length} of ${done + failed.length} failed`} onClose={onClose}
      actions={<><button type="button" className="btn" onClick={saveCSV}><Download aria-hidden />Download CSV</button><button type="button" className="btn primary" onClick={onClose}>Close</button></>}
    >
      <p className="text-ink-2">{done} succeeded. The failed rows stay selected, so you can try again.</p>
      <div className="max-h-[320px] overflow-auto rounded-control border border-line" tabIndex={0} role="group" aria-label="Failed rows">
        <table className="w-full table-fixed border-collapse text-left">
          <thead className="sticky top-0 bg-raised"><tr className="h-8 text-xs text-ink-3"><th scope="col" className="w-2/5 px-3 font-medium first-letter:uppercase">{noun[0]}</th><th scope="col" className="px-2 font-medium">Reason</th></tr></thead>
          <tbody>
            {failed.map((r) => (
              <tr key={r.id} className="border-t border-line-soft align-top">
                <td className="px-3 py-1.5 wrap-anywhere" title={r.id}>{r.name}</td>
                <td className="px-2 py-1.5 text-bad wrap-anywhere">{r.reason}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Dialog>
  )
}
