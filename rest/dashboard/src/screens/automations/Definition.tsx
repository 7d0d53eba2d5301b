import { useQueryClient } from '@tanstack/react-query'
import { Save } from 'lucide-react'
import { useCallback, useEffect, useMemo, useState } from 'react'
import { Failed } from '@/api/failed'
import { done, rest } from '@/api/rest'
import type { components } from '@/api/rest.gen'
import { useAddress } from '@/app/address'
import { toast } from '@/app/toasts'
import { Failure } from '@/parts/Failure'
import { useWrite } from '@/parts/Form'
import { SkeletonRows } from '@/parts/Skeleton'
import { Code } from '@/screens/code/Code'
import { ConflictDialog, LeaveDialog } from '@/screens/code/Dialogs'
import { useSaveKey, useUnsaved } from '@/screens/code/unsaved'
import { definitionKey, textOf, useDefinition, type Detail, type Problem } from './definition'
import { lineOf, placeOf, placesOf } from './places'
import { ProblemList } from './Problems'

interface Props {
  automation: Detail
  problems: Problem[]
  write: boolean
  shown: boolean
  saved: () => Promise<unknown>
  onDirty: (dirty: boolean) => void
}

// Definition is the draft as JSON. What the service says against it is marked at its place.
export function Definition({ automation, problems, write, shown, saved, onDirty }: Props) {
  const { id } = automation
  const client = useQueryClient()
  const [address, setAddress] = useAddress()
  const read = useDefinition(id)
  const unsaved = useUnsaved<{ text: string; etag: string }>(`automation ${id}`, { private: true }) // headers of webhook steps can be secrets
  const [conflict, setConflict] = useState<string | null>(null)
  const [at, setAt] = useState<{ from: number; to: number }>()
  const base = useMemo(() => (read.data ? textOf(read.data) : ''), [read.data])
  const text = unsaved.value?.text ?? base
  const dirty = unsaved.value !== null
  useEffect(() => onDirty(dirty), [dirty, onDirty])

  const json = useMemo(() => placesOf(text), [text])
  const save = useWrite(async (over: boolean) => {
    if (!unsaved.value) return
    const held = unsaved.value
    const body = JSON.parse(held.text) as components['schemas']['UpdateAutomation']
    try {
      const { automation: record } = await done(rest.PATCH('/automations/{id}', { params: { path: { id }, header: over ? {} : { 'If-Match': held.etag } }, body }))
      client.setQueryData(definitionKey(id), record)
      unsaved.set(null)
      toast.ok('Saved as the draft')
      void saved()
    } catch (e) {
      if (!(e instanceof Failed && e.status === 409 && e.code === 'conflict')) throw e
      const { automation: theirs } = await done(rest.GET('/automations/{id}', { params: { path: { id } } }))
      setConflict(theirs.updated_at)
    }
  })
  const ready = write && dirty && !save.busy && !json.error
  const saveNow = useCallback(() => { if (ready && shown) void save.run(false) }, [ready, shown, save])
  useSaveKey(saveNow)

  // What the last save was refused for, until the text is another, and then what the check says.
  const [refused, setRefused] = useState<{ text: string; list: Problem[] } | null>(null)
  useEffect(() => {
    setRefused(save.error ? { text: text, list: Object.entries(save.wrong).map(([path, message]) => ({ path, message, severity: 'error' })) } : null)
  }, [save.error])
  const list = useMemo<Problem[]>(() => {
    if (json.error) return [{ path: '', message: json.error.message, severity: 'error' }]
    if (refused) return refused.list
    return dirty ? [] : problems
  }, [json.error, refused, dirty, problems])
  const find = useCallback((p: Problem) => (json.error ?? placeOf(json.places, p.path)), [json])
  const marks = useMemo(() => list.map((p) => ({ ...find(p), message: p.message, doubtful: p.severity === 'warning' })), [list, find])

  function drop() {
    unsaved.set(null)
    save.clear()
    setConflict(null)
    void read.refetch()
  }
  function change(next: string) {
    if (next === base && read.data) unsaved.set(null)
    else unsaved.set({ text: next, etag: unsaved.value?.etag ?? read.data?.etag ?? '' })
  }
  // A link to a place, as from the outline.
  const wanted = address.at
  useEffect(() => {
    if (!shown || !wanted || !text) return
    const timer = setTimeout(() => {
      setAt({ ...placeOf(json.places, wanted) })
      setAddress({ at: undefined })
    }, 400)
    return () => clearTimeout(timer)
  }, [shown, wanted, text === ''])

  const changedElsewhere = unsaved.value && read.data && automation.etag !== unsaved.value.etag
  return (
    <>
      {read.error && !read.data && <Failure error={read.error} retry={() => void read.refetch()} />}
      {!read.data && !read.error && <SkeletonRows rows={5} />}
      {shown && read.data && (
        <div className="grid gap-3">
          {write && (
            <div className="flex flex-wrap items-center gap-2">
              <button type="button" className={`btn ${ready ? 'primary' : ''}`} disabled={!ready} onClick={saveNow} title="Ctrl S"><Save aria-hidden />{dirty ? 'Save the draft' : 'Saved'}</button>
              {dirty && <button type="button" className="btn" onClick={drop}>Discard changes</button>}
              <span className="text-xs text-ink-3">Runs go on as they are until you activate the draft.</span>
            </div>
          )}
          {changedElsewhere && <p role="status" className="rounded-control bg-warn-soft px-3 py-2 text-warn">Somebody else has changed this draft since. You will be asked before you save over it.</p>}
          {save.error !== null && refused !== null && refused.list.length === 0 && <Failure what="It is not saved. Your text is still here." error={save.error} retry={saveNow} />}
          {list.length > 0 && (
            <section aria-label="Problems" aria-live="polite" className="grid gap-2">
              {refused && !json.error && refused.list.length > 0 && <p className="font-medium text-bad">It is not saved: the service refuses {list.length === 1 ? 'one place' : `${list.length} places`}.</p>}
              <ProblemList problems={list} line={(p) => lineOf(text, find(p).from)} go={(p) => setAt({ ...find(p) })} />
            </section>
          )}
          <Code label="Definition, JSON" language="json" value={text} readOnly={!write} onChange={change} marks={marks} at={at} height="h-[62vh] min-h-[320px]" />
        </div>
      )}
      {conflict && <ConflictDialog what="draft" at={conflict} onClose={() => setConflict(null)} theirs={drop} mine={() => { setConflict(null); void save.run(true) }} />}
      <LeaveDialog leaving={unsaved.leaving} drop={drop} />
    </>
  )
}
