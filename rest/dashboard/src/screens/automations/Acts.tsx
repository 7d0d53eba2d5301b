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

// ActivateDialog makes the draft what events start, or lets a paused automation go on.
export function ActivateDialog({ automation: a, dirty, problems, changed, onClose, version }: Props & { dirty: boolean; problems: Problem[]; version?: number }) {
  const act = useAct(a.id, changed)
  const resumes = version === undefined && a.status === 'PAUSED' && !a.hasUnpublishedChanges
  const live = a.stats.running + a.stats.waiting
  const held = a.status === 'PAUSED' && live > 0
  const [runs, setRuns] = useState<'continue' | 'cancel'>('continue')
  async function activate() {
    const { automation } = await act({ action: 'activate', ...(version ? { version } : {}), ...(held && runs === 'cancel' ? { runs } : {}) })
    toast.success(`Version ${automation.version} is active`)
  }
  return (
    <ConfirmDialog title={resumes ? 'Start again?' : version ? `Go back to version ${version}?` : 'Activate the draft?'} label="Activate" danger={held && runs === 'cancel'} onClose={onClose} run={activate}>
      <div className="grid gap-2">
        <p>{version ? `Events start runs of version ${version} from now on.` : resumes ? 'Events start runs again.' : 'Events start runs of what the draft says from now on. Live runs keep the version that they began with.'}</p>
        {dirty && !version && <p className="rounded-control bg-warn-soft px-3 py-2 text-warn">What you have not saved is not in it.</p>}
        {held && <Choose label="Held runs" value={runs} set={setRuns} choices={[['continue', `Let the ${live} held runs go on`], ['cancel', 'Cancel the held runs']]} />}
        {problems.length > 0 && !version && <ProblemList problems={problems} />}
      </div>
    </ConfirmDialog>
  )
}

// PauseDialog asks what live runs do meanwhile.
export function PauseDialog({ automation: a, changed, onClose }: Props) {
  const act = useAct(a.id, changed)
  const [runs, setRuns] = useState<'hold' | 'continue'>('hold')
  const live = a.stats.running + a.stats.waiting
  async function pause() {
    const answer = await act({ action: 'pause', runs })
    toast.success(runs === 'hold' && answer.held_runs ? `Paused; ${answer.held_runs} runs are held` : 'Paused')
  }
  return (
    <ConfirmDialog title={`Pause ${a.name}?`} label="Pause" onClose={onClose} run={pause}>
      <p>Events start no more runs. {live === 0 ? 'No run is live now.' : `What do the ${live} live runs do meanwhile?`}</p>
      <Choose label="Live runs" value={runs} set={setRuns} choices={[['hold', 'Hold them until it is activated again'], ['continue', 'Let them go on to their end']]} />
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

// ArchiveDialog ends an automation with its live runs.
export function ArchiveDialog({ automation: a, changed, onClose }: Props) {
  const act = useAct(a.id, changed)
  async function archive() {
    const answer = await act({ action: 'archive' })
    toast.success(`Archived${answer.cancelling_runs ? `; ${answer.cancelling_runs} runs are being cancelled` : ''}`)
  }
  return (
    <ConfirmDialog title={`Archive ${a.name}?`} label="Archive" danger onClose={onClose} run={archive}>
      It starts no more runs, its {a.stats.running + a.stats.waiting} live runs are cancelled, and its draft cannot be changed.
    </ConfirmDialog>
  )
}

// DeleteDialog asks before an automation goes.
export function DeleteDialog({ automation: a, onClose }: { automation: Detail; onClose: () => void }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  async function remove() {
    await unwrap(rest.DELETE('/automations/{id}', { params: { path: { id: a.id } } }))
    void client.invalidateQueries({ queryKey: keyOf(Automations) })
    toast.success(`${a.name} is deleted`)
    void navigate({ to: '/automations' as string })
  }
  return (
    <ConfirmDialog title={`Delete ${a.name}?`} label="Delete the automation" danger onClose={onClose} run={remove}>
      Its live runs end and its figures are gone. This cannot be undone.
    </ConfirmDialog>
  )
}
