import { CircleX, Download, Info, Check } from 'lucide-react'
import { useRef, useState, type FormEvent } from 'react'
import { unwrap, rest } from '@/api/rest'
import { Badge } from '@/parts/Badge'
import { Dialog } from '@/parts/Dialog'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Field } from '@/parts/Form'
import { toCSV, saveFile } from '@/parts/file'
import { addressesOf, type Line } from './csv'

interface Result extends Line {
  status: 'added' | 'existing' | 'failed'
  why: string
}

const batch = 1000
const shown = 500
const looks = { added: { word: 'Added', tone: 'ok', icon: Check }, existing: { word: 'Already suppressed', tone: 'quiet', icon: Info }, failed: { word: 'Failed', tone: 'bad', icon: CircleX } } as const

// Import suppresses the addresses of a CSV file and reports the result of each line.
export function Import({ onClose, done: finished }: { onClose: () => void; done: () => void }) {
  const [text, setText] = useState('')
  const [results, setResults] = useState<Result[]>([])
  const [state, setState] = useState<'choose' | 'busy' | 'over'>('choose')
  const [error, setError] = useState<unknown>()
  const stop = useRef(false)
  const lines = text.trim() ? addressesOf(text) : []

  async function go(e?: FormEvent) {
    e?.preventDefault()
    setState('busy')
    setError(undefined)
    stop.current = false
    const all = [...results]
    try {
      for (let i = all.length; i < lines.length && !stop.current; i += batch) {
        const part = lines.slice(i, i + batch)
        const answer = await unwrap(rest.POST('/suppressions/batch', { body: { emails: part.map((l) => l.address) } }))
        for (const [n, l] of part.entries()) {
          const item = answer.data[n]
          const problem = item?.error
          all.push({ ...l, status: item?.status ?? 'failed', why: problem ? Object.values((problem.details ?? {}) as Record<string, unknown>).map(String).join(', ') || problem.message : '' })
        }
        setResults([...all])
      }
    } catch (e) {
      setError(e)
    }
    setState('over')
    finished()
  }
  const close = () => { stop.current = true; onClose() }
  const count = (status: Result['status']) => results.filter((r) => r.status === status).length

  if (state === 'choose') {
    return (
      <Dialog wide title="Import suppressions" onClose={close}>
        <form onSubmit={(e) => void go(e)} className="grid gap-4">
          <Field label="CSV file" hint="One address per line, or a column named email. The file is read in your browser.">
            {(p) => <input {...p} type="file" accept=".csv,.txt,text/csv,text/plain" className="input h-auto py-1.5" onChange={(e) => void e.target.files?.[0]?.text().then(setText)} />}
          </Field>
          <Field label="Or paste addresses">
            {(p) => <textarea {...p} className="input font-mono" rows={6} value={text.length > 200_000 ? `${text.slice(0, 2000)}…` : text} readOnly={text.length > 200_000} onChange={(e) => setText(e.target.value)} placeholder={'email\nbob@example.net'} spellCheck={false} />}
          </Field>
          <p role="status" className="text-ink-2">{lines.length > 0 && `${lines.length.toLocaleString()} ${lines.length === 1 ? 'line' : 'lines'}, the first is ${lines[0]?.address}`}</p>
          <div className="flex justify-end gap-2">
            <button type="button" className="btn" onClick={close}>Cancel</button>
            <button type="submit" className="btn primary" disabled={lines.length === 0}>{lines.length > 0 ? `Suppress ${lines.length.toLocaleString()}` : 'Suppress'}</button>
          </div>
        </form>
      </Dialog>
    )
  }
  const order = { failed: 0, added: 1, existing: 2 }
  const rows = [...results].sort((a, b) => order[a.status] - order[b.status] || a.line - b.line).slice(0, shown)
  return (
    <Dialog wide title={state === 'busy' ? 'Importing…' : 'Import results'} onClose={close} actions={state === 'busy' ? <button type="button" className="btn" onClick={() => { stop.current = true }}>Stop</button> : <><button type="button" className="btn" onClick={() => saveReport(results)}><Download aria-hidden />Download report</button><button type="button" className="btn primary" onClick={close}>Close</button></>}>
      <p role="status">{results.length.toLocaleString()} of {lines.length.toLocaleString()} lines: <b className="text-ok">{count('added')} added</b>, {count('existing')} already suppressed, <b className={count('failed') ? 'text-bad' : ''}>{count('failed')} failed</b>.</p>
      {state === 'busy' && <progress className="h-1.5 w-full accent-accent-fill" aria-label="Lines imported" max={lines.length} value={results.length} />}
      {error !== undefined && <ErrorAlert title="The import stopped" error={error} retry={() => void go()} label="Continue" />}
      {error === undefined && state === 'over' && results.length < lines.length && <button type="button" className="btn justify-self-start" onClick={() => void go()}>Continue with the rest</button>}
      {rows.length > 0 && (
        <div className="max-h-[320px] overflow-auto rounded-control border border-line" tabIndex={0} role="group" aria-label="Lines">
          <table className="w-full border-collapse text-left">
            <thead className="sticky top-0 bg-raised"><tr className="h-8 text-xs text-ink-3"><th scope="col" className="w-14 px-3 font-medium">Line</th><th scope="col" className="px-2 font-medium">Address</th><th scope="col" className="w-[112px] px-2 font-medium">Result</th></tr></thead>
            <tbody>
              {rows.map((r) => {
                const look = looks[r.status]
                return (
                  <tr key={r.line} className="border-t border-line-soft align-top">
                    <td className="px-3 py-1.5 text-ink-3">{r.line}</td>
                    <td className="px-2 py-1.5 wrap-anywhere">{r.address || <i className="text-ink-3">empty</i>}{r.why && <span className="block text-xs text-bad">{r.why}</span>}</td>
                    <td className="px-2 py-1.5"><Badge tone={look.tone} icon={look.icon}>{look.word}</Badge></td>
                  </tr>
                )
              })}
            </tbody>
          </table>
        </div>
      )}
      {results.length > shown && <p className="text-xs text-ink-3">Showing the first {shown}, failed lines first. The report contains all lines.</p>}
    </Dialog>
  )
}

function saveReport(results: Result[]) {
  saveFile([toCSV([['line', 'address', 'result', 'why'], ...results.map((r) => [String(r.line), r.address, r.status, r.why])])], 'suppressions-import.csv', 'text/csv')
}
