import { Moon, Sun } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { HtmlPreview } from '@/parts/HtmlPreview'
import { SkeletonText } from '@/parts/Skeleton'
import { SegmentedControl } from '@/parts/Tabs'
import { Findings } from './Findings'
import { languageName, locales } from './locales'
import { names } from './merge'
import type { Problem, Render } from './useRender'

type View = 'desktop' | 'mobile' | 'text'

// Preview shows a template as the server renders it with the sample values. While the text has errors, it keeps the
// last result. `go` moves to a problem, and languages are those of the translations.
export function Preview({ render, go, label = 'Preview', languages = [] }: { render: Render; label?: string; go?: (p: Problem) => void; languages?: string[] }) {
  const [view, setView] = useState<View>('desktop')
  const [scheme, setScheme] = useState<'light' | 'dark'>('light')
  const { rendered, findings, problems, failure } = render
  const html = useDeferredValue(rendered?.html ?? null)
  const shown = view !== 'text' && rendered && !html ? 'text' : view
  return (
    <section aria-label={label} aria-busy={render.busy} className="grid min-h-0 min-w-0 content-start gap-2 self-start lg:sticky lg:top-6">
      <div className="flex flex-wrap items-center gap-2">
        <h2>Preview</h2>
        <div className="ml-auto flex flex-wrap gap-2">
          {shown !== 'text' && <SegmentedControl<'light' | 'dark'> label="Color scheme" choices={[{ key: 'light', name: 'Light mode', icon: <Sun aria-hidden /> }, { key: 'dark', name: 'Dark mode', icon: <Moon aria-hidden /> }]} value={scheme} onChange={setScheme} />}
          <SegmentedControl<View> label="View" choices={[{ key: 'desktop', name: 'Desktop' }, { key: 'mobile', name: 'Phone' }, { key: 'text', name: 'Text' }]} value={view} onChange={setView} />
        </div>
      </div>
      {failure !== null && <ErrorAlert error={failure} retry={render.refetch} title="Can’t render this template" />}
      {problems.length > 0 && (
        <ul role="alert" className="grid gap-1 rounded-control bg-bad-soft px-3 py-2 text-bad">
          {problems.map((p) => <li key={p.field}><ProblemLine problem={p} languages={languages} go={go} /></li>)}
        </ul>
      )}
      {!rendered && !failure && problems.length === 0 && <SkeletonText />}
      {rendered && (
        <div className={`overflow-hidden rounded-card border border-line bg-sunken ${render.stale && problems.length > 0 ? 'opacity-60' : ''}`}>
          <p className="border-b border-line bg-surface px-3 py-2 wrap-anywhere"><span className="text-xs text-ink-3">Subject </span><b className="font-medium">{rendered.subject ?? 'set when sending'}</b></p>
          {shown === 'text'
            ? <pre tabIndex={0} className="h-[560px] overflow-auto bg-surface p-3 whitespace-pre-wrap wrap-anywhere">{rendered.text ?? 'No text part. It’s generated from the HTML.'}</pre>
            : <HtmlPreview html={html ?? ''} label="Rendered email" dark={scheme === 'dark'} mobile={shown === 'mobile'} className="h-[560px]" />}
        </div>
      )}
      <div className="flex flex-wrap items-center gap-2 text-xs text-ink-3">
        <span>Rendered by Postrider with the sample values of your variables.</span>
        <label className="ml-auto flex items-center gap-2">Language
          <select className="input sm w-auto" value={render.locale} onChange={(e) => render.setLocale(e.target.value)}>
            <option value="">Default</option>
            {[...new Set([...locales, ...(render.locale ? [render.locale] : [])])].map((tag) => <option key={tag} value={tag}>{languageName(tag)}</option>)}
          </select>
        </label>
      </div>
      {findings && <Findings findings={findings} />}
    </section>
  )
}

// fieldName returns how the dashboard calls a field of a problem.
function fieldName(field: string, languages: string[]): string {
  if (field.startsWith('variables.')) return field.slice('variables.'.length)
  const [, at, part = field] = /^translations\[(\d+)\]\.(\w+)$/.exec(field) ?? []
  const name = names[part as keyof typeof names] ?? part
  return at === undefined ? name : `${name} (${languages[Number(at)] ?? at})`
}

function ProblemLine({ problem, languages, go }: { problem: Problem; languages: string[]; go?: (p: Problem) => void }) {
  const place = problem.line > 0 ? `, line ${problem.line}${problem.column > 0 ? `, column ${problem.column}` : ''}` : ''
  const text = <><b className="font-medium">{fieldName(problem.field, languages)}{place}</b>: {problem.message}</>
  if (!go || problem.line === 0) return <span className="wrap-anywhere">{text}</span>
  return <button type="button" className="text-left wrap-anywhere underline underline-offset-2" onClick={() => go(problem)}>{text}</button>
}
