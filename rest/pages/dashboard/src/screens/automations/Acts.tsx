import { useNavigate } from '@tanstack/react-router'
import { useQueryClient } from '@tanstack/react-query'
import { useId, useRef, useState } from 'react'
import { keyOf } from '@/api/graphql'
import { unwrap, newIdempotencyKey, rest } from '@/api/rest'
import type { components } from '@/api/rest.gen'
import { toast } from '@/app/toasts'
import { ConfirmDialog } from '@/parts/ConfirmDialog'
import { Automations } from './automations.gen'
import type { Detail, Problem } from './definition'
import { ProblemList } from './Problems'

type Action = components['schemas']['AutomationAction']

function useAct(id: string, changed: () => Promise<unknown>) {
  const once = useRef(newIdempotencyKey())
  return async (body: Action) => {
    const answer = await unwrap(rest.POST('/automations/{id}', { params: { path: { id }, header: { 'Idempotency-Key': once.current } }, body }))
    once.current = newIdempotencyKey()
    void changed()
    return answer
  }
}

interface Props {
  automation: Detail
  changed: () => Promise<unknown>
  onClose: () => void
}

// ActivateDialog activates the draft, or resumes a paused automation.
export function ActivateDialog({ automation: a, dirty, problems, changed, onClose, version }: Props & { dirty: boolean; problems: Problem[]; version?: number }) {
  const act = useAct(a.id, changed)
  const resumes = version === undefined && a.status === 'PAUSED' && !a.hasUnpublishedChanges
  const live = a.stats.running + a.stats.waiting
  const held = a.status === 'PAUSED' && live > 0
  const [runs, setRuns] = useState<'continue' | 'cancel'>('continue')
  async function activate() {
    const { automation } = await act({ action: 'activate', ...(version ? { version } : {}), ...(held && runs === 'cancel' ? { runs } : {}) })
    toast.success(`Version ${automation.version} activated`)
  }
  return (
    <ConfirmDialog title={resumes ? 'Activate again?' : version ? `Restore version ${version}?` : 'Activate the draft?'} label="Activate" danger={held && runs === 'cancel'} onClose={onClose} run={activate}>
      <div className="grid gap-2">
        <p>{version ? `Events start runs of version ${version} from now on.` : resumes ? 'Events start runs again.' : 'Events start runs of the draft from now on. Runs in progress keep their version.'}</p>
        {dirty && !version && <p className="rounded-control bg-warn-soft px-3 py-2 text-warn">Unsaved changes aren’t included.</p>}
        {held && <Choose label="Held runs" value={runs} set={setRuns} choices={[['continue', `Resume the ${live} held runs`], ['cancel', 'Cancel the held runs']]} />}
        {problems.length > 0 && !version && <ProblemList problems={problems} />}
      </div>
    </ConfirmDialog>
  )
}

// PauseDialog asks whether live runs are held.
export function PauseDialog({ automation: a, changed, onClose }: Props) {
  const act = useAct(a.id, changed)
  const [runs, setRuns] = useState<'hold' | 'continue'>('hold')
  const live = a.stats.running + a.stats.waiting
  async function pause() {
    const answer = await act({ action: 'pause', runs })
    toast.success(runs === 'hold' && answer.held_runs ? `Paused. ${answer.held_runs} runs are held.` : 'Paused')
  }
  return (
    <ConfirmDialog title={`Pause ${a.name}?`} label="Pause" onClose={onClose} run={pause}>
      <p>Events won’t start new runs. {live === 0 ? 'No runs are in progress.' : `What should happen to the ${live} runs in progress?`}</p>
      <Choose label="Runs in progress" value={runs} set={setRuns} choices={[['hold', 'Hold them until the automation is activated again'], ['continue', 'Let them finish']]} />
    </ConfirmDialog>
  )
}

function Choose<T extends string>({ label, value, set, choices }: { label: string; value: T; set: (v: T) => void; choices: [T, string][] }) {
  const id = useId()
  return (
    <fieldset className="mt-2 grid gap-1.5"><legend className="sr-only">{label}</legend>
      {choices.map(([key, name]) => <label key={key} className="flex items-center gap-2 text-ink"><input type="radio" name={id} checked={value === key} onChange={() => set(key)} className="accent-accent-fill" />{name}</label>)}
    </fieldset>
  )
}

// ArchiveDialog archives an automation and cancels its live runs.
export function ArchiveDialog({ automation: a, changed, onClose }: Props) {
  const act = useAct(a.id, changed)
  async function archive() {
    const answer = await act({ action: 'archive' })
    toast.success(`Archived${answer.cancelling_runs ? `; ${answer.cancelling_runs} runs are being cancelled` : ''}`)
  }
  return (
    <ConfirmDialog title={`Archive ${a.name}?`} label="Archive" danger onClose={onClose} run={archive}>
      It won’t start new runs, its {a.stats.running + a.stats.waiting} runs in progress are cancelled, and its draft can’t be changed.
    </ConfirmDialog>
  )
}

// DeleteDialog asks before an automation is deleted.
export function DeleteDialog({ automation: a, onClose }: { automation: Detail; onClose: () => void }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  async function remove() {
    await unwrap(rest.DELETE('/automations/{id}', { params: { path: { id: a.id } } }))
    void client.invalidateQueries({ queryKey: keyOf(Automations) })
    toast.success(`${a.name} deleted`)
    void navigate({ to: '/automations' as string })
  }
  return (
    <ConfirmDialog title={`Delete ${a.name}?`} label="Delete automation" danger onClose={onClose} run={remove}>
      Its runs end and its statistics are deleted. This cannot be undone.
    </ConfirmDialog>
  )
}
