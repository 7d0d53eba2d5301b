import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { ApiError } from '@/api/errors'
import { unwrap, rest } from '@/api/rest'
import type { components } from '@/api/rest.gen'
import { toast } from '@/app/toasts'
import { useUnsaved } from '@/screens/code/unsaved'
import { definitionKey, docOf, textOfDoc, useDefinition, type Automation, type Problem } from './definition'
import { changed, redone, started, undone, type History } from './model/history'
import { same, type Doc } from './model/merge'
import { missing, placed, standing, type Trouble } from './model/problems'

interface Held {
  history: History<Doc>
  // base and etag are the server's state when editing began.
  base: Doc
  etag: string
  // text is the content of the editor if it differs from how the draft would be written, otherwise null.
  text: string | null
}

export interface Conflict {
  theirs: Automation
  base: Doc
  mine: Doc
  by: string | null
}

// docOfText parses a definition that was written by hand; null if it is invalid.
function docOfText(text: string): Doc | null {
  try {
    const value = JSON.parse(text) as Doc
    const is = (v: unknown): v is object => typeof v === 'object' && v !== null && !Array.isArray(v)
    return is(value) && is(value.trigger) && Array.isArray(value.steps) && value.steps.every((s) => is(s) && typeof s.type === 'string') ? value : null
  } catch {
    return null
  }
}

// useDraft holds the draft of an automation while it is edited, as steps or as JSON, with its history, and saves
// it.
export function useDraft(id: string, problems: Problem[], saved: () => void) {
  const client = useQueryClient()
  const read = useDefinition(id)
  const unsaved = useUnsaved<true>(`automation ${id}`, { private: true }) // headers of webhook steps can be secrets
  const [held, setHeld] = useState<Held | null>(null)
  const latest = useRef<Held | null>(null)
  const [conflict, setConflict] = useState<Conflict | null>(null)
  const [busy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState<{ error: unknown; list: Trouble[]; was: Doc } | null>(null)
  const served = useMemo(() => (read.data ? docOf(read.data) : null), [read.data])
  const doc = held?.history.now ?? served
  const dirty = held !== null && (!same(held.history.now, held.base) || (held.text !== null && docOfText(held.text) === null))

  const { set: mark } = unsaved
  useEffect(() => mark(dirty ? true : null), [dirty, mark])
  const put = useCallback((next: Held | null) => {
    latest.current = next
    setHeld(next)
  }, [])
  // Without unsaved changes, what another person has saved is shown immediately.
  useEffect(() => {
    if (held && !dirty && read.data && read.data.etag !== held.etag && !busy) put(null)
  }, [held, dirty, read.data, busy, put])

  const change = useCallback((next: Doc | ((doc: Doc) => Doc), of = '') => {
    const now = latest.current ?? (served && read.data ? { history: started(served), base: served, etag: read.data.etag, text: null } : null)
    if (!now) return
    put({ ...now, history: changed(now.history, typeof next === 'function' ? next(now.history.now) : next, of), text: null })
  }, [served, read.data, put])

  const type = useCallback((text: string) => {
    const before = latest.current ?? (served && read.data ? { history: started(served), base: served, etag: read.data.etag, text: null } : null)
    if (!before) return
    const next = docOfText(text)
    put({ ...before, text, history: next && !same(next, before.history.now) ? changed(before.history, next, 'text') : before.history })
  }, [served, read.data, put])

  const travel = useCallback((by: typeof undone) => {
    const now = latest.current
    if (now) put({ ...now, history: by(now.history), text: null })
  }, [put])

  // save resolves to whether everything is saved. With `over` it replaces what another person has saved.
  const save = useCallback(async (next?: { doc: Doc; etag: string }) => {
    const now = latest.current
    if (!now) return true
    const [mine, etag] = next ? [next.doc, next.etag] : [now.history.now, now.etag]
    setBusy(true)
    setRefusal(null)
    try {
      const body = { name: mine.name, description: mine.description ?? null, timezone: mine.timezone ?? null, goal: mine.goal ?? null, trigger: mine.trigger, steps: mine.steps } as unknown as components['schemas']['UpdateAutomation']
      const { automation: record } = await unwrap(rest.PATCH('/automations/{id}', { params: { path: { id }, header: { 'If-Match': etag } }, body }))
      client.setQueryData(definitionKey(id), record)
      const base = docOf(record)
      const after = latest.current ?? now
      const history = next ? changed(changed(after.history, docOf(conflictOf.current?.theirs ?? record)), base) : after.history
      // Input typed during the save is still unsaved.
      put({ history: same(history.now, mine) ? { ...history, now: base } : history, base, etag: record.etag, text: after.text !== null && docOfText(after.text) === null ? after.text : null })
      setConflict(null)
      toast.success('Draft saved')
      saved()
      return true
    } catch (e) {
      const theirs = e instanceof ApiError && e.status === 409 && e.code === 'conflict' ? await unwrap(rest.GET('/automations/{id}', { params: { path: { id } } })).then((a) => a.automation, () => null) : null
      if (theirs && theirs.status !== 'archived' && theirs.etag !== etag && e instanceof ApiError) {
        setConflict({ theirs, base: now.base, mine, by: typeof e.details.changed_by === 'string' ? e.details.changed_by : null })
        return false
      }
      const fields = e instanceof ApiError ? Object.entries(e.fields).map(([path, message]) => ({ path, message, severity: 'error' })) : []
      setRefusal({ error: e, list: placed(mine, fields), was: mine })
      return false
    } finally {
      setBusy(false)
    }
  }, [client, id, put, saved])
  const conflictOf = useRef(conflict)
  conflictOf.current = conflict

  // takeTheirs shows the other person's saved draft. Undo returns to your own.
  const takeTheirs = useCallback(() => {
    const now = latest.current
    const theirs = conflictOf.current?.theirs
    if (!now || !theirs) return
    client.setQueryData(definitionKey(id), theirs)
    const base = docOf(theirs)
    put({ history: changed(now.history, base), base, etag: theirs.etag, text: null })
    setConflict(null)
    setRefusal(null)
    toast.success('Loaded their draft', { label: 'Restore mine', run: () => travel(undone) })
  }, [client, id, put, travel])

  const drop = useCallback(() => {
    put(null)
    setRefusal(null)
    setConflict(null)
    mark(null)
    void read.refetch()
  }, [put, mark, read])

  // Problems in order: what the server has refused, until that place changes; then required fields; then what the
  // check of the saved draft reports.
  const troubles = useMemo<Trouble[]>(() => {
    if (!doc) return []
    const refused = refusal ? standing(refusal.list, refusal.was, doc) : []
    const lacks = missing(doc).filter((m) => !refused.some((r) => r.at === m.at && r.field === m.field))
    const checked = served && !lacks.length && !refused.length ? standing(placed(served, problems), served, doc) : []
    return [...refused, ...lacks, ...checked]
  }, [doc, served, refusal, problems])

  const text = held?.text ?? (doc ? textOfDoc(doc) : '')
  return {
    read, doc, dirty, text, troubles, busy, conflict, refusal, change, type, save, drop, takeTheirs, setConflict, leaving: unsaved.leaving, etag: held?.etag ?? read.data?.etag ?? '',
    broken: held !== null && held.text !== null && docOfText(held.text) === null,
    undo: held && held.history.past.length > 0 ? () => travel(undone) : undefined,
    redo: held && held.history.future.length > 0 ? () => travel(redone) : undefined,
  }
}

export type Draft = ReturnType<typeof useDraft>
