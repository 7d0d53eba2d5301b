import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { ApiError } from '@/api/errors'
import { keyOf, useGraphQL } from '@/api/graphql'
import { unwrap, rest } from '@/api/rest'
import { toast } from '@/app/toasts'
import { useWrite } from '@/parts/Form'
import { useUnsaved } from '@/screens/code/unsaved'
import { bodyOf, draftOf, fromRest, type Draft, type Template, type TemplateRecord, type Unsaved } from './draft'
import { TemplateStamp, TemplateVersions, Templates } from './templates.gen'

// Conflict is what another person has saved in the meantime, and your own unsaved changes.
export interface Conflict {
  theirs: Template
  base: Draft
  mine: Draft
  by: string | null
}

export const editsKey = (id: string) => ['template edits', id]
const templateKey = (id: string) => ['template draft', id]
const readTemplate = (id: string) => unwrap(rest.GET('/templates/{id}', { params: { path: { id } } })).then((a) => fromRest(a.template))

// useTemplate reads the draft with its etag, which GraphQL does not have.
export const useTemplate = (id: string, enabled = true) => useQuery({ queryKey: templateKey(id), queryFn: () => readTemplate(id), enabled })

// withoutNames returns the changes that can be saved while they are typed: the name and the alias of a template take
// effect immediately, and are saved when the user says so.
const withoutNames = (draft: Draft, base: Draft): Draft => ({ ...draft, name: base.name, alias: base.alias })
const same = (a: Draft, b: Draft) => JSON.stringify(a) === JSON.stringify(b)

// autosaveDelay is how long typing pauses before the draft is saved, in milliseconds.
const autosaveDelay = 1200

// useEditor holds the template and the unsaved changes, and saves them. `conflict` is set if another person has
// saved in the meantime.
export function useEditor(template: Template) {
  const client = useQueryClient()
  const { id } = template
  const unsaved = useUnsaved<Unsaved>(`template ${id}`)
  const [conflict, setConflict] = useState<Conflict | null>(null)
  const base = draftOf(template)
  const draft = unsaved.value?.draft ?? base
  const latest = useRef(unsaved.value)
  latest.current = unsaved.value

  const hold = useCallback(
    (next: Unsaved | null) => {
      latest.current = next
      unsaved.set(next)
    },
    [unsaved.set],
  )

  const change = useCallback(
    (more: Partial<Draft>) => {
      const held = latest.current ?? { draft: draftOf(template), base: draftOf(template), etag: template.etag }
      const next = { ...held, draft: { ...held.draft, ...more } }
      hold(JSON.stringify(next.draft) === JSON.stringify(next.base) ? null : next)
    },
    [template, hold],
  )

  // took stores the response to a write.
  const took = useCallback(
    (record: TemplateRecord) => {
      client.setQueryData(templateKey(id), fromRest(record))
      client.setQueryData(keyOf(TemplateStamp, { id }), { template: { updatedAt: record.updated_at } })
      void client.invalidateQueries({ queryKey: keyOf(Templates) })
      void client.invalidateQueries({ queryKey: keyOf(TemplateVersions) })
      void client.invalidateQueries({ queryKey: editsKey(id) })
    },
    [client, id],
  )

  // A merged draft overwrites the draft it was merged with.
  const write = useWrite(async (merged: Draft | null) => {
    const held = latest.current
    if (!held) return true
    const mine = merged && conflict ? { draft: merged, base: draftOf(conflict.theirs), etag: conflict.theirs.etag } : held
    try {
      const body = bodyOf(mine.draft, mine.base)
      const record = Object.keys(body).length > 0 || !conflict ? (await unwrap(rest.PATCH('/templates/{id}', { params: { path: { id }, header: { 'If-Match': mine.etag } }, body }))).template : null
      if (record) took(record)
      const written = record ? fromRest(record) : (conflict as Conflict).theirs
      // Input typed during the save is still unsaved.
      const after = latest.current
      hold(after && JSON.stringify(after.draft) !== JSON.stringify(held.draft) ? { draft: after.draft, base: draftOf(written), etag: written.etag } : null)
      setConflict(null)
      return true
    } catch (e) {
      if (!(e instanceof ApiError) || e.status !== 409 || !e.details.changed_at) throw e
      const theirs = await readTemplate(id)
      client.setQueryData(templateKey(id), theirs)
      setConflict({ theirs, base: held.base, mine: held.draft, by: typeof e.details.changed_by === 'string' ? e.details.changed_by : null })
      return false
    }
  })

  // autosave saves what can be saved while it is typed. If another user has saved in the meantime, the page says so,
  // and the next explicit save asks.
  const auto = useWrite(async () => {
    const held = latest.current
    if (!held) return
    const part = withoutNames(held.draft, held.base)
    try {
      const { template: record } = await unwrap(rest.PATCH('/templates/{id}', { params: { path: { id }, header: { 'If-Match': held.etag } }, body: bodyOf(part, held.base) }))
      took(record)
      const written = fromRest(record)
      const after = latest.current
      hold(after && !same(after.draft, draftOf(written)) ? { draft: after.draft, base: draftOf(written), etag: written.etag } : null)
    } catch (e) {
      if (!(e instanceof ApiError) || e.status !== 409) throw e
      void client.invalidateQueries({ queryKey: templateKey(id) })
    }
  })

  const drop = useCallback(() => {
    hold(null)
    setConflict(null)
    void client.invalidateQueries({ queryKey: templateKey(id) })
  }, [client, id, hold])

  // takeTheirs shows the other person's saved template. One click returns to your own.
  const takeTheirs = useCallback(() => {
    const mine = latest.current
    drop()
    if (mine && conflict) toast.success('Loaded their draft', { label: 'Restore mine', run: () => hold({ draft: mine.draft, base: draftOf(conflict.theirs), etag: conflict.theirs.etag }) })
  }, [drop, hold, conflict])

  // save resolves to whether everything is saved.
  const save = async (merged: Draft | null = null) => {
    const dirty = latest.current !== null
    const ok = (await write.run(merged)) === true
    if (ok && dirty) toast.success('Saved')
    return ok
  }

  // While there are unsaved changes, check for changes by others.
  const dirty = unsaved.value !== null
  const stamp = useGraphQL(TemplateStamp, { id }, { enabled: dirty, refetchInterval: 20_000 })
  const stamped = stamp.data?.template?.updatedAt
  useEffect(() => {
    if (dirty && stamped && stamped > template.updatedAt) void client.invalidateQueries({ queryKey: templateKey(id) })
  }, [client, id, dirty, stamped, template.updatedAt])
  const changedAt = unsaved.value && unsaved.value.etag !== template.etag ? template.updatedAt : null
  // useAutosave saves the draft when typing pauses, if it is acceptable.
  const failed = useRef('')
  const useAutosave = (acceptable: boolean) => {
    const held = unsaved.value
    const text = held ? JSON.stringify(withoutNames(held.draft, held.base)) : ''
    const due = acceptable && held !== null && !conflict && !changedAt && !write.busy && !auto.busy && text !== failed.current && !same(withoutNames(held.draft, held.base), held.base)
    useEffect(() => {
      if (!due) return
      const timer = setTimeout(() => {
        failed.current = text // until it is changed again
        void auto.run()
      }, autosaveDelay)
      return () => clearTimeout(timer)
    }, [due, text])
  }
  return { useAutosave, saving: auto.busy || write.busy, id, draft, dirty, change, save, drop, takeTheirs, took, busy: write.busy || auto.busy, error: write.error ?? auto.error, wrong: { ...auto.fieldErrors, ...write.fieldErrors } as Record<string, string>, base: unsaved.value?.base ?? base, conflict, setConflict, changedAt, restored: unsaved.restored, leaving: unsaved.leaving }
}

export type Editor = ReturnType<typeof useEditor>
