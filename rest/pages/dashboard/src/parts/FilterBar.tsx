import { Search, X } from 'lucide-react'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import { useSearchParams } from '@/app/searchParams'

// parseTerms parses a query into words and `field:value` terms, like the server does.
export function parseTerms(text: string): { text: string; field: string; value: string }[] {
  return [...text.matchAll(/(?:([a-z]+):)?("(?:[^"])*"|\S+)/gi)].map((m) => ({ text: m[0], field: m[1]?.toLowerCase() ?? '', value: m[2] ?? '' }))
}

// setTerm adds a term to a query and removes other terms of the same field.
export function setTerm(text: string, field: string, value: string): string {
  const quoted = /\s/.test(value) ? `"${value}"` : value
  return [...parseTerms(text).filter((t) => t.field !== field).map((t) => t.text), ...(value ? [`${field}:${quoted}`] : [])].join(' ')
}

export const termValue = (text: string, field: string) => parseTerms(text).find((t) => t.field === field)?.value.replaceAll('"', '') ?? ''

export interface Choice {
  field: string
  label: string
  values: { value: string; name: string }[]
}

interface Props {
  placeholder: string
  // choices are select boxes that set a term of the query.
  choices?: Choice[]
  // hints are suggested terms, shown while the input has the focus.
  hints?: string[]
  error?: string
  children?: ReactNode
}

// FilterBar is the filter of a list. Its query is the parameter `q` of the URL.
export function FilterBar({ placeholder, choices = [], hints = [], error, children }: Props) {
  const [params, setParams] = useSearchParams()
  const q = params.q ?? ''
  const [text, setText] = useState(q)
  const [focus, setFocus] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  const applied = useRef(q)
  useEffect(() => {
    if (q !== applied.current) setText(q) // changed by a link or the back button
    applied.current = q
  }, [q])
  useEffect(() => {
    if (text.trim() === applied.current) return
    const timer = setTimeout(() => {
      applied.current = text.trim()
      setParams({ q: text.trim(), open: undefined })
    }, 300)
    return () => clearTimeout(timer)
  }, [text, setParams])
  const apply = (next: string) => {
    applied.current = next
    setText(next)
    setParams({ q: next, open: undefined })
  }
  return (
    <div className="relative flex-none border-b border-line px-4 py-3 md:px-6">
      <div className="flex flex-wrap items-center gap-2">
        <label className={`flex h-[34px] min-w-0 flex-[1_1_280px] items-center gap-2 rounded-control border bg-surface px-2.5 focus-within:outline-2 focus-within:-outline-offset-1 focus-within:outline-accent ${error ? 'border-bad-mark' : 'border-line-strong'}`}>
          <Search aria-hidden className="!size-3.5 text-ink-3" />
          <input
            ref={field} data-filter type="search" aria-label="Filter" aria-invalid={error ? true : undefined} aria-describedby={error ? 'filter-error' : undefined} value={text} placeholder={placeholder} spellCheck={false} autoComplete="off"
            onChange={(e) => setText(e.target.value)} onFocus={() => setFocus(true)} onBlur={() => setFocus(false)} onKeyDown={(e) => { if (e.key === 'Escape') { if (text) apply(''); else field.current?.blur() } if (e.key === 'Enter') apply(text.trim()) }}
            className="h-full min-w-0 flex-1 bg-transparent outline-none max-md:text-[16px] [&::-webkit-search-cancel-button]:hidden"
          />
          {text ? <button type="button" aria-label="Clear filter" onClick={() => apply('')} className="text-ink-3 hover:text-ink"><X aria-hidden className="!size-3.5" /></button> : <kbd className="key max-md:hidden">/</kbd>}
        </label>
        {choices.map((c) => (
          <select key={c.field} aria-label={c.label} value={termValue(text, c.field)} onChange={(e) => apply(setTerm(text, c.field, e.target.value))} className="h-[34px] max-w-40 rounded-control border border-line bg-raised px-2 text-ink-2 hover:bg-hover">
            <option value="">{c.label}</option>
            {c.values.map((v) => <option key={v.value} value={v.value}>{v.name}</option>)}
          </select>
        ))}
        {children}
      </div>
      {error && <p id="filter-error" role="alert" className="mt-1.5 text-xs text-bad">{error}</p>}
      {focus && hints.length > 0 && ( // overlays the rows, so that they do not move
        <div className="absolute inset-x-4 top-full z-20 mt-px flex flex-wrap items-center gap-1 rounded-b-card border border-t-0 border-line bg-raised px-2 py-2 shadow-pop md:inset-x-6">
          {hints.map((h) => <button key={h} type="button" tabIndex={-1} onMouseDown={(e) => { e.preventDefault(); setText(`${text} ${h}`.trim()) }} className="chip !h-6 border-dashed font-mono !text-2xs">{h}</button>)}
        </div>
      )}
    </div>
  )
}
