import { useQuery } from '@tanstack/react-query'
import { BookOpen, CircleAlert, CircleCheck, Play } from 'lucide-react'
import { Component, Suspense, lazy, useState, type ReactNode } from 'react'
import { useStore } from '@/api/store'
import { useViewer } from '@/app/viewer'
import { Badge } from '@/parts/Badge'
import { CodeBlock } from '@/parts/CodeBlock'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { useWrite } from '@/parts/Form'
import { PageHead } from '@/parts/Page'
import { formatDuration } from '@/parts/Time'
import { examples } from './examples'
import { KeyBar } from './KeyBar'
import { draft, key } from './memory'
import { readSchema, run, type Result } from './run'

const Editor = lazy(() => import('./Editor'))

export default function Playground() {
  const viewer = useViewer()
  const held = useStore(key)
  const text = useStore(draft)
  const [result, setResult] = useState<Result | null>(null)
  const schema = useQuery({ queryKey: ['playground-schema'], queryFn: ({ signal }) => readSchema(signal), staleTime: Infinity, retry: false })
  const ask = useWrite(async () => {
    if (key.get()) setResult(await run(key.get()?.secret ?? '', draft.get().query, draft.get().variables))
  })
  const set = (more: Partial<typeof text>) => draft.set({ ...draft.get(), ...more })
  const go = () => void ask.run()
  const known = examples.filter((e) => !e.module || viewer.has(e.module))
  const plain = <textarea aria-label="Query" spellCheck={false} value={text.query} onChange={(e) => set({ query: e.target.value })} onKeyDown={(e) => { if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) go() }} className="block size-full resize-none bg-surface p-3 font-mono text-xs" />
  return (
    <>
      <PageHead title="Playground">
        {schema.data && <a className="btn max-md:hidden" href="/graphql/schema.graphql" target="_blank" rel="noreferrer">Schema</a>}
        <a className="btn max-md:hidden" href="/explorer" target="_blank" rel="noreferrer">GraphiQL</a>
        <a className="btn" href="/api/docs" target="_blank" rel="noreferrer"><BookOpen aria-hidden />REST reference</a>
      </PageHead>
      <KeyBar />
      <div className="grid min-h-0 flex-1 overflow-auto md:grid-cols-2 md:overflow-hidden">
        <div className="flex min-h-[460px] min-w-0 flex-col md:min-h-0 md:border-r md:border-line">
          <div className="flex flex-none flex-wrap items-center gap-2 border-b border-line px-4 py-2 md:pl-6">
            <select aria-label="Example" value="" onChange={(e) => { const example = known.find((x) => x.name === e.target.value); if (example) set({ query: example.query, variables: example.variables ?? '{}' }) }} className="h-[30px] rounded-control border border-line bg-raised px-2 text-ink-2">
              <option value="">Examples</option>
              {known.map((e) => <option key={e.name} value={e.name}>{e.name}</option>)}
            </select>
            {schema.data === null && <span className="text-xs text-ink-3 max-md:hidden">No autocompletion: the schema isn’t available.</span>}
            <button type="button" className={`btn ml-auto ${held ? 'primary' : ''}`} disabled={!held || ask.busy} title={held ? 'Ctrl Enter' : 'Create or paste a key first'} onClick={go}><Play aria-hidden />{ask.busy ? 'Running' : 'Run'}</button>
          </div>
          <div className="min-h-0 flex-1 overflow-hidden">
            <Fallback fallback={plain}><Suspense fallback={plain}><Editor value={text.query} onChange={(query) => set({ query })} onRun={go} schema={schema.data} /></Suspense></Fallback>
          </div>
          <label className="grid flex-none border-t border-line">
            <span className="px-4 pt-2 text-xs text-ink-3 md:pl-6">Variables (JSON)</span>
            <textarea spellCheck={false} rows={4} value={text.variables} onChange={(e) => set({ variables: e.target.value })} onKeyDown={(e) => { if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) go() }} className="w-full resize-none bg-surface px-4 py-1.5 font-mono text-xs -outline-offset-2 md:pl-6" />
          </label>
        </div>
        <section aria-label="Response" className="min-h-0 min-w-0 overflow-auto bg-surface p-4 max-md:border-t max-md:border-line" tabIndex={-1}>
          <div className="grid gap-3" aria-live="polite">
            {ask.error !== null && <ErrorAlert error={ask.error} retry={go} />}
            {result && !ask.error && (
              <>
                <p className="flex flex-wrap items-center gap-2 text-xs text-ink-3">
                  <Badge tone={result.failed ? 'bad' : 'ok'} icon={result.failed ? CircleAlert : CircleCheck}>{result.failed ? 'Failed' : 'Succeeded'} {result.status}</Badge>
                  <span>{formatDuration(result.ms)}</span>{result.requestId && <code>{result.requestId}</code>}
                </p>
                <CodeBlock text={result.text} wrap max="" />
              </>
            )}
            {!result && ask.error === null && <p className="py-10 text-center text-ink-3">{held ? <>Run the query: <kbd className="key">Ctrl</kbd> <kbd className="key">Enter</kbd></> : 'Create a key above, then run the query. The response appears here.'}</p>}
          </div>
        </section>
      </div>
    </>
  )
}

// Fallback shows a plain text field if the editor cannot be loaded.
class Fallback extends Component<{ fallback: ReactNode; children: ReactNode }, { broken: boolean }> {
  state = { broken: false }
  static getDerivedStateFromError = () => ({ broken: true })
  render = () => (this.state.broken ? this.props.fallback : this.props.children)
}
