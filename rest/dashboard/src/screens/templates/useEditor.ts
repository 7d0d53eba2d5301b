import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useRef, useState } from 'react'
import { keyOf, query, useGraph } from '@/api/graphql'
import { done, rest } from '@/api/rest'
import type { components } from '@/api/rest.gen'
import { toast } from '@/app/toasts'
import { useWrite } from '@/parts/Form'
import { useUnsaved } from '@/screens/code/unsaved'
import { bodyOf, draftOf, fromRest, type Draft, type Template, type Unsaved } from './draft'
import { TemplateDraft, TemplateStamp, TemplateVersions, Templates } from './templates.gen'

// useEditor holds what is read, what is written and not saved, and saves it. `conflict` is the moment
// at which somebody else has saved in between.
export function useEditor(template: Template) {
  const client = useQueryClient()
  const { id } = template
  const unsaved = useUnsaved<Unsaved>(`template ${id}`)
  const [conflict, setConflict] = useState<string | null>(null)
  const base = draftOf(template)
  const draft = unsaved.value?.draft ?? base
  const latest = useRef(unsaved.value)
  latest.current = unsaved.value

  const change = useCallback(
    (more: Partial<Draft>) => {
      const held = latest.current ?? { draft: draftOf(template), base: draftOf(template), from: template.updatedAt }
      const next = { ...held, draft: { ...held.draft, ...more } }
      const same = JSON.stringify(next.draft) === JSON.stringify(next.base)
      latest.current = same ? null : next
      unsaved.set(same ? null : next)
    },
    [template, unsaved.set],
  )

  // took keeps what a write has answered with.
  const took = useCallback(
    (record: components['schemas']['TemplateRecord']) => {
      client.setQueryData(keyOf(TemplateDraft, { id }), { template: fromRest(record) })
      client.setQueryData(keyOf(TemplateStamp, { id }), { template: { updatedAt: record.updated_at } })
      void client.invalidateQueries({ queryKey: keyOf(Templates) })
      void client.invalidateQueries({ queryKey: keyOf(TemplateVersions) })
    },
    [client, id],
  )

  // save answers whether all is saved now.
  const write = useWrite(async (over: boolean) => {
    const mine = latest.current
    if (!mine) return true
    if (!over) {
      const now = await query(TemplateStamp, { id }, undefined, true)
      if (now.template && now.template.updatedAt !== mine.from) {
        setConflict(now.template.updatedAt)
        return false
      }
    }
    const { template: record } = await done(rest.PATCH('/templates/{id}', { params: { path: { id } }, body: bodyOf(mine.draft, mine.base) }))
    took(record)
    const after = latest.current
    const written = draftOf(fromRest(record))
    // What was typed while it was saved is still unsaved.
    const rest_ = after && JSON.stringify(after.draft) !== JSON.stringify(mine.draft) ? { draft: after.draft, base: written, from: record.updated_at } : null
    latest.current = rest_
    unsaved.set(rest_)
    setConflict(null)
    return true
  })

  const drop = useCallback(() => {
    latest.current = null
    unsaved.set(null)
    setConflict(null)
    void client.invalidateQueries({ queryKey: keyOf(TemplateDraft, { id }) })
  }, [client, id, unsaved.set])

  const save = async (over = false) => {
    const dirty = latest.current !== null
    const ok = (await write.run(over)) === true
    if (ok && dirty) toast.ok('Saved')
    return ok
  }

  const dirty = unsaved.value !== null
  const stamp = useGraph(TemplateStamp, { id }, { enabled: dirty, refetchInterval: 20_000 })
  const changedAt = dirty && stamp.data?.template && stamp.data.template.updatedAt > (unsaved.value?.from ?? '') ? stamp.data.template.updatedAt : null
  return { id, draft, dirty, change, save, drop, took, busy: write.busy, error: write.error, wrong: write.wrong, conflict, setConflict, changedAt, restored: unsaved.restored, leaving: unsaved.leaving }
}

export type Editor = ReturnType<typeof useEditor>
