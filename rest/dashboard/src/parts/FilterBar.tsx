import { Search, X } from 'lucide-react'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import { useAddress } from '@/app/address'

// terms takes a search text apart, as the service does: words, and `field:value`.
export function terms(text: string): { text: string; field: string; value: string }[] {
  return [...text.matchAll(/(?:([a-z]+):)?("(?:[^"])*"|\S+)/gi)].map((m) => ({ text: m[0], field: m[1]?.toLowerCase() ?? '', value: m[2] ?? '' }))
}

// withTerm adds a term, in the place of others of its field.
export function withTerm(text: string, field: string, value: string): string {
  const quoted = /\s/.test(value) ? `"${value}"` : value
  return [...terms(text).filter((t) => t.field !== field).map((t) => t.text), ...(value ? [`${field}:${quoted}`] : [])].join(' ')
}

export const termOf = (text: string, field: string) => terms(text).find((t) => t.field === field)?.value.replaceAll('"', '') ?? ''

export interface Choice {
  field: string
  label: string
  values: { value: string; name: string }[]
}

interface Props {
  placeholder: string
  // choices are selects that write a term of the search text.
  choices?: Choice[]
  // hints are terms that can be written, shown while the field has the focus.
  hints?: string[]
  wrong?: string
  children?: ReactNode
}

// FilterBar is the filter of a list. What it holds is the parameter `q` of the URL.
export function FilterBar({ placeholder, choices = [], hints = [], wrong, children }: Props) {
  const [address, change] = useAddress()
  const q = address.q ?? ''
  const [text, setText] = useState(q)
  const [focus, setFocus] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  const mine = useRef(q)
  useEffect(() => {
    if (q !== mine.current) setText(q) // changed elsewhere: a link, the back button
    mine.current = q
  }, [q])
  useEffect(() => {
    if (text.trim() === mine.current) return
    const timer = setTimeout(() => {
      mine.current = text.trim()
      change({ q: text.trim(), open: undefined })
    }, 300)
    return () => clearTimeout(timer)
  }, [text, change])
  const set = (next: string) => {
    mine.current = next
    setText(next)
    change({ q: next, open: undefined })
  }
  return (
    <div className="relative flex-none border-b border-line px-4 py-3 md:px-6">
      <div className="flex flex-wrap items-center gap-2">
        <label className={`flex h-[34px] min-w-0 flex-[1_1_280px] items-center gap-2 rounded-control border bg-surface px-2.5 focus-within:outline-2 focus-within:-outline-offset-1 focus-within:outline-accent ${wrong ? 'border-bad-mark' : 'border-line-strong'}`}>
          <Search aria-hidden className="!size-3.5 text-ink-3" />
          <input
            ref={field} data-filter type="search" aria-label="Filter" aria-invalid={wrong ? true : undefined} aria-describedby={wrong ? 'filter-wrong' : undefined} value={text} placeholder={placeholder} spellCheck={false} autoComplete="off"
            onChange={(e) => setText(e.target.value)} onFocus={() => setFocus(true)} onBlur={() => setFocus(false)} onKeyDown={(e) => { if (e.key === 'Escape') { if (text) set(''); else field.current?.blur() } if (e.key === 'Enter') set(text.trim()) }}
            className="h-full min-w-0 flex-1 bg-transparent outline-none max-md:text-[16px] [&::-webkit-search-cancel-button]:hidden"
          />
          {text ? <button type="button" aria-label="Clear the filter" onClick={() => set('')} className="text-ink-3 hover:text-ink"><X aria-hidden className="!size-3.5" /></button> : <kbd className="key max-md:hidden">/</kbd>}
        </label>
        {choices.map((c) => (
          <select key={c.field} aria-label={c.label} value={termOf(text, c.field)} onChange={(e) => set(withTerm(text, c.field, e.target.value))} className="h-[34px] max-w-40 rounded-control border border-line bg-raised px-2 text-ink-2 hover:bg-hover">
            <option value="">{c.label}</option>
            {c.values.map((v) => <option key={v.value} value={v.value}>{v.name}</option>)}
          </select>
        ))}
        {children}
      </div>
      {wrong && <p id="filter-wrong" role="alert" className="mt-1.5 text-xs text-bad">{wrong}</p>}
      {focus && hints.length > 0 && ( // over the rows, which stay where they are
        <div className="absolute inset-x-4 top-full z-20 mt-px flex flex-wrap items-center gap-1 rounded-b-card border border-t-0 border-line bg-raised px-2 py-2 shadow-pop md:inset-x-6">
          {hints.map((h) => <button key={h} type="button" tabIndex={-1} onMouseDown={(e) => { e.preventDefault(); setText(`${text} ${h}`.trim()) }} className="chip !h-6 border-dashed font-mono !text-2xs">{h}</button>)}
        </div>
      )}
    </div>
  )
}
