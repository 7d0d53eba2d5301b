import { useNavigate } from '@tanstack/react-router'
import { CornerDownLeft, Search, X } from 'lucide-react'
import { useEffect, useId, useMemo, useRef, useState, type ReactNode } from 'react'
import { findPage, needsLookup } from '@/app/ids'
import { paletteOpen, paletteText } from '@/app/shell/state'
import { useSearchParams } from '@/app/searchParams'
import { fieldsOf, joinQuery, markedWord, replaceLastWord, setTerm, splitQuery, suggest, termValue, unquote, type Choice, type Term } from './filterTerms'
import { SavedViews } from './SavedViews'

export { parseTerms, setTerm, termValue, type Choice } from './filterTerms'

interface Props {
  placeholder: string
  // choices are select boxes that set a term of the query.
  choices?: Choice[]
  // hints are examples of terms. Their fields are completed, and shown as chips.
  hints?: string[]
  error?: string
  children?: ReactNode
}

const noChoices: Choice[] = []
const noHints: string[] = []
const rest = 1000 // ms without a change, after which an error is shown

// FilterBar is the filter of a list. Its query is the parameter `q` of the URL. Complete terms are chips in front of the
// text.
export function FilterBar({ placeholder, choices = noChoices, hints = noHints, error, children }: Props) {
  const [params, setParams] = useSearchParams()
  const navigate = useNavigate()
  const q = params.q ?? ''
  const fields = useMemo(() => fieldsOf(choices, hints), [choices, hints])
  const [{ chips, text }, setDraft] = useState(() => splitQuery(q, fields))
  const [focus, setFocus] = useState(false)
  const [typing, setTyping] = useState(false)
  const [active, setActive] = useState(-1)
  const field = useRef<HTMLInputElement>(null)
  const applied = useRef(q)
  const listId = useId()
  const query = joinQuery(chips, text)
  useEffect(() => {
    if (q !== applied.current) setDraft(splitQuery(q, fields)) // changed by a link or the back button
    applied.current = q
  }, [q, fields])
  useEffect(() => {
    if (query === applied.current) return
    const timer = setTimeout(() => {
      if (query === applied.current) return // open has been called
      applied.current = query
      setParams({ q: query, open: undefined })
    }, 300)
    return () => clearTimeout(timer)
  }, [query, setParams])
  useEffect(() => {
    setActive(-1)
    const timer = setTimeout(() => setTyping(false), rest)
    return () => clearTimeout(timer)
  }, [text])

  const type = (next: string) => {
    setTyping(true)
    setDraft({ chips, text: next })
  }
  const apply = (next: string) => {
    applied.current = next
    setTyping(false)
    setDraft(splitQuery(next, fields))
    setParams({ q: next, open: undefined })
  }
  const open = (path: string) => {
    const [to, search] = path.split('?')
    applied.current = query // applying it would cancel a navigation that is still loading
    void navigate({ to, search: Object.fromEntries(new URLSearchParams(search)) } as never)
  }
  const edit = (chip: Term) => {
    setDraft({ chips: chips.filter((c) => c !== chip), text: [text, chip.text].filter(Boolean).join(' ') })
    field.current?.focus()
  }

  const target = findPage(text)
  const options = focus
    ? [
        ...(target ? [{ label: target.id, about: `Open ${target.name}`, run: () => open(target.path) }] : []),
        ...(needsLookup(text) ? [{ label: text.trim(), about: 'Find this ID', run: () => { paletteText.set(text.trim()); paletteOpen.set(true) } }] : []),
        ...suggest(text, fields, chips).map((s) => ({
          label: s.label, about: s.about,
          run: () => { const next = replaceLastWord(text, s.insert); if (s.complete) apply(joinQuery(chips, next)); else { setDraft({ chips, text: next }); field.current?.focus() } },
        })),
      ]
    : []
  const mark = typing ? undefined : markedWord(q, error)
  const shown = error && !typing ? error : undefined

  function onKeyDown(e: React.KeyboardEvent<HTMLInputElement>) {
    if ((e.key === 'ArrowDown' || e.key === 'ArrowUp') && options.length > 0) {
      e.preventDefault()
      setActive((old) => (e.key === 'ArrowDown' ? (old + 1) % options.length : (old <= 0 ? options.length : old) - 1))
    } else if (e.key === 'Tab' && !e.shiftKey && active >= 0) {
      e.preventDefault()
      options[active]?.run()
    } else if (e.key === 'Enter') {
      if (active >= 0) options[active]?.run()
      else if (target && target.name !== 'address') open(target.path)
      else apply(query)
    } else if (e.key === 'Escape') {
      if (text || chips.length > 0) apply('')
      else field.current?.blur()
    } else if (e.key === 'Backspace' && text === '' && chips.length > 0) {
      e.preventDefault()
      edit(chips[chips.length - 1] as Term)
    }
  }

  return (
    <div className="relative flex-none border-b border-line px-4 py-3 md:px-6">
      <div className="flex flex-wrap items-center gap-2">
        <div className={`flex min-h-[34px] min-w-0 flex-[1_1_220px] flex-wrap max-md:basis-full items-center gap-x-2 gap-y-1 rounded-control border bg-surface px-2.5 focus-within:outline-2 focus-within:-outline-offset-1 focus-within:outline-accent ${shown ? 'border-bad-mark' : 'border-line-strong'}`} onClick={() => field.current?.focus()}>
          <Search aria-hidden className="!size-3.5 text-ink-3" />
          {chips.map((c) => (
            <span key={c.text} className={`chip max-w-full !pr-0.5 ${mark === c.text ? 'border-bad-mark' : ''}`}>
              <button type="button" className="min-w-0 truncate" title="Edit this filter" onClick={() => edit(c)}>{c.field}:<b>{unquote(c.value)}</b></button>
              <button type="button" aria-label={`Remove filter ${c.text}`} className="p-0.5 text-ink-3 hover:text-ink" onClick={(e) => { e.stopPropagation(); apply(joinQuery(chips.filter((o) => o !== c), text)) }}><X aria-hidden className="!size-3" /></button>
            </span>
          ))}
          <input
            ref={field} data-filter type="search" role="combobox" aria-label="Filter" aria-expanded={options.length > 0} aria-controls={listId} aria-activedescendant={active >= 0 ? `${listId}-${active}` : undefined} aria-autocomplete="list"
            aria-invalid={shown ? true : undefined} aria-describedby={shown ? 'filter-error' : undefined} value={text} placeholder={chips.length > 0 ? 'Add a filter or search words' : placeholder} spellCheck={false} autoComplete="off" autoCapitalize="off"
            onChange={(e) => type(e.target.value)} onFocus={() => setFocus(true)} onBlur={() => { setFocus(false); setTyping(false); setDraft(splitQuery(query, fields)) }} onKeyDown={onKeyDown}
            className="h-8 min-w-32 flex-1 bg-transparent outline-none max-md:text-[16px] [&::-webkit-search-cancel-button]:hidden"
          />
          {query ? <button type="button" aria-label="Clear filter" onClick={() => apply('')} className="text-ink-3 hover:text-ink"><X aria-hidden className="!size-3.5" /></button> : <kbd className="key max-md:hidden">/</kbd>}
        </div>
        {choices.map((c) => (
          <select key={c.field} aria-label={c.label} value={termValue(query, c.field)} onChange={(e) => apply(setTerm(query, c.field, e.target.value))} className="h-[34px] max-w-40 rounded-control border border-line bg-raised px-2 text-ink-2 hover:bg-hover">
            <option value="">{c.label}</option>
            {c.values.map((v) => <option key={v.value} value={v.value}>{v.name}</option>)}
          </select>
        ))}
        <SavedViews q={q} apply={apply} />
        {children}
      </div>
      {shown && <p id="filter-error" role="alert" className="mt-1.5 text-xs text-bad">{shown}{mark && <> <mark className="rounded-mark bg-bad-soft px-1 font-mono text-bad">{mark}</mark></>}</p>}
      {focus && ( // overlays the rows, so that they do not move
        <div id={listId} role="listbox" aria-label="Suggestions" className={options.length > 0 ? 'menu absolute top-full left-4 z-20 mt-[-8px] grid max-h-72 w-[min(420px,calc(100%-32px))] overflow-auto shadow-pop md:left-6' : 'hidden'}>
          {options.map((o, i) => (
            <div key={o.label} id={`${listId}-${i}`} role="option" aria-selected={i === active} tabIndex={-1} className={`menu-item ${i === active ? 'bg-hover' : ''}`} onMouseDown={(e) => { e.preventDefault(); o.run() }}>
              <code className="min-w-0 truncate">{o.label}</code><span className="ml-auto flex flex-none items-center gap-1 text-xs text-ink-3">{o.about.startsWith('Open') && <CornerDownLeft aria-hidden className="!size-3" />}{o.about}</span>
            </div>
          ))}
        </div>
      )}
    </div>
  )
}
