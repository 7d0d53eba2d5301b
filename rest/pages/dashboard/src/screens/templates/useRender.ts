import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { ApiError } from '@/api/errors'
import { unwrap, rest } from '@/api/rest'
import type { components } from '@/api/rest.gen'
import type { Mark } from '@/screens/code/Code'

export type Changes = components['schemas']['UnsavedTemplate']

export interface Problem {
  // field is subject, html, text or another field of the draft, or a variable.
  field: string
  message: string
  line: number
  column: number
}

interface Options {
  id: string
  stamp: string
  values: Record<string, unknown>
  version?: number
  // unsaved changes to the draft
  changes?: Changes
  // a template that shows a layout or partial, and the label of that in errors, such as "layout base"
  within?: { id: string; label: string }
}

export interface Recipient {
  locale?: string
  time_zone: string
}

// recipientOf returns what a template is rendered for: a language, and the time zone of the browser.
const recipientOf = (locale: string): Recipient => ({ ...(locale ? { locale } : {}), time_zone: timeZone })

// timeZone is that of the browser.
const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'

// useRender renders a draft, with unsaved changes, or a version on the server. It waits until typing pauses, cancels
// requests that are out of date, and keeps the last result while the text has errors.
export function useRender({ id, stamp, values, version, changes, within }: Options) {
  // The language of the recipient; empty for the default.
  const [locale, setLocale] = useState('')
  const now = JSON.stringify({ values, locale, within: within?.id, changes: changes && Object.keys(changes).length > 0 ? changes : undefined })
  const settled = useSettled(now)
  const query = useQuery({
    queryKey: ['render', id, stamp, version ?? 'draft', settled],
    queryFn: ({ signal }) => {
      const { values: variables, changes: draft, locale, within } = JSON.parse(settled) as { values: Record<string, unknown>; changes?: Changes; locale: string; within?: string }
      const recipient = recipientOf(locale)
      const body = version === undefined ? { variables, ...recipient, ...(within ? { within } : {}), ...(draft ? { draft } : {}) } : { variables, ...recipient, version }
      return unwrap(rest.POST('/templates/{id}/render', { params: { path: { id } }, body, signal }))
    },
    placeholderData: (old) => old,
    staleTime: Infinity,
    gcTime: 60_000,
    retry: false,
  })
  const label = within?.label
  const problems = useMemo(() => problemsOf(query.error, label), [query.error, label])
  // A failed query has no data, not even that of the text before.
  const last = useRef(query.data)
  if (query.data) last.current = query.data
  const shown = query.data ?? last.current
  return {
    locale, setLocale, recipient: recipientOf(locale),
    rendered: shown?.rendered, findings: shown?.findings, problems, busy: query.isFetching || now !== settled, stale: query.isPlaceholderData || query.error !== null, refetch: () => void query.refetch(),
    // failure is an error that is not about the text.
    failure: query.error && problems.length === 0 ? query.error : null,
    // valid is set if the server accepts the draft. Values of variables do not matter.
    valid: now === settled && !query.isFetching && (query.error ? problems.length > 0 && problems.every((p) => p.field.startsWith('variables.') || p.field === 'within') : true),
  }
}

export type Render = ReturnType<typeof useRender>

// problemsOf returns the errors of a draft, with their positions. With a label, the errors are those of a template that
// contains the draft, whose own errors have the label or are fields of `draft`.
export function problemsOf(error: unknown, label?: string): Problem[] {
  if (!(error instanceof ApiError)) return []
  return Object.entries(error.fields).map(([path, full]) => {
    const isLabeled = label !== undefined && full.startsWith(`${label}, `)
    const text = isLabeled ? full.slice(label.length + 2) : full
    const isInside = label === undefined || isLabeled || path.startsWith('draft.')
    const [, line, column, message] = (isInside && /^line (\d+)(?:, column (\d+))?: (.*)$/s.exec(text)) || []
    const saying = message ?? text
    return { field: path.replace(/^draft\./, ''), message: saying.slice(0, 1).toUpperCase() + saying.slice(1), line: Number(line ?? 0), column: Number(column ?? 0) }
  })
}

// marksOf returns where the problems of a text are: a tag, or a line.
export function marksOf(problems: Problem[], field: string, text: string): Mark[] {
  const lines = text.split('\n')
  return problems.filter((p) => p.field === field && p.line > 0 && p.line <= lines.length).map((p) => {
    const start = lines.slice(0, p.line - 1).reduce((sum, l) => sum + l.length + 1, 0)
    const line = lines[p.line - 1] ?? ''
    // The server counts characters, and the editor UTF-16 code units.
    const from = start + (p.column > 0 ? [...line].slice(0, p.column - 1).join('').length : 0)
    const end = /[}%]\}/.exec(text.slice(from, from + 1000))
    const to = p.column > 0 && end && !text.slice(from, from + end.index).includes('\n') ? from + end.index + 2 : start + line.length
    return { from, to: Math.max(to, from + 1), message: p.message }
  })
}

// useSettled returns a text after it has not changed for a moment.
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), 300)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}
