import { useNavigate } from '@tanstack/react-router'
import { useQueryClient } from '@tanstack/react-query'
import { FlaskConical, Plus, Trash2 } from 'lucide-react'
import { useMemo, useRef, useState } from 'react'
import { useGraphQL } from '@/api/graphql'
import { unwrap, newIdempotencyKey, rest } from '@/api/rest'
import type { components } from '@/api/rest.gen'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { ConfirmDialog } from '@/parts/ConfirmDialog'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Field, useWrite } from '@/parts/Form'
import { formatRelative } from '@/parts/Time'
import { Code } from '@/screens/code/Code'
import { AutomationSamples } from './automations.gen'
import { definitionKey, useDefinition, type Automation, type Detail } from './definition'
import type { Taken } from './model/trace'
import { keyOfStep, stepsOf, type Step } from './model/ways'
import { eventOf } from './status'
import { kindOf } from './steps/kinds'
import { Trace } from './Trace'

interface Later {
  after: string
  name: string
  data: string
}

type Simulation = components['schemas']['AutomationSimulation']

const objectOf = (text: string, what: string): Record<string, unknown> => {
  try {
    const value: unknown = text.trim() === '' ? {} : JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // shown below
  }
  throw new Error(`${what} must be a JSON object, such as {"name": "Bob"}`)
}

// sampleOf builds sample data for the fields that a definition reads from its event: the compared text, or else
// the name.
function sampleOf(definition: string): string {
  const data: Record<string, unknown> = { name: 'Bob' }
  for (const m of definition.matchAll(/event\.data\.(\w+)(?:\s*(==|>=?|<=?)\s*(?:\\"([^"\\]*)\\"|(\d+(?:\.\d+)?)|(true|false)))?/g)) {
    const [, key = '', sign, text, number, truth] = m
    if (key in data && !sign) continue
    data[key] = text ?? (number ? Number(number) + (sign === '>' ? 1 : sign === '<' ? -1 : 0) : truth ? truth === 'true' : (data[key] ?? key))
  }
  return JSON.stringify(data, null, 2)
}

// Played is a dry run with the steps that it used.
export interface Played {
  simulation: Simulation
  trigger: unknown
  steps: Step[]
  taken: Taken[]
}

// DryRun simulates one run on a virtual clock. Nothing is stored or sent.
export function DryRun({ automation: a, dirty, save, onPlayed }: { automation: Detail; dirty: boolean; save?: () => Promise<boolean>; onPlayed: (played: Played) => void }) {
  const { user, can } = useViewer()
  const read = useDefinition(a.id)
  const [which, setWhich] = useState<'draft' | 'active'>('draft')
  const [email, setEmail] = useState('bob@example.net')
  const [userId, setUserId] = useState('user-17')
  const [typed, setData] = useState<string | null>(null)
  const sample = useMemo(() => sampleOf(JSON.stringify(read.data ?? {})), [read.data])
  const data = typed ?? sample
  const event = eventOf(read.data?.trigger)
  const known = useGraphQL(AutomationSamples, { name: event }, { enabled: event !== '' && !event.startsWith('$') })
  const samples = known.data?.customEvents.nodes ?? []
  function take(id: string) {
    const s = samples.find((one) => one.id === id)
    setData(s ? JSON.stringify(s.data ?? {}, null, 2) : null)
    if (!s) return
    setEmail(s.email ?? '')
    setUserId(s.userId ?? '')
  }
  const [later, setLater] = useState<Later[]>([])
  const [outcomes, setOutcomes] = useState<Record<string, string>>({})
  const [asks, setAsks] = useState(false)
  const navigate = useNavigate()
  const client = useQueryClient()
  const once = useRef(newIdempotencyKey())
  const sends = stepsOf(read.data?.steps).map((s, i) => ({ key: keyOfStep(s, i), type: s.type })).filter((s) => kindOf(s.type).acts)
  const waits = stepsOf(read.data?.steps).filter((s) => s.event !== undefined).flatMap((s) => (Array.isArray(s.event) ? s.event.map(String) : [String(s.event)]))

  const play = useWrite(async (): Promise<Simulation> => {
    const body: components['schemas']['SimulateAutomation'] = {
      event: { email: email.trim() || null, user_id: userId.trim() || null, data: objectOf(data, 'Data') },
      // oxlint-disable-next-line unicorn/no-thenable -- the API names it so
      then: later.map((l) => ({ name: l.name, after: l.after || null, data: objectOf(l.data, `Data of ${l.name || 'the later event'}`) })),
      outcomes: Object.fromEntries(Object.entries(outcomes).filter(([, v]) => v)),
      ...(which === 'draft' ? { draft: true } : { version: a.version }),
    }
    return (await unwrap(rest.POST('/automations/{id}/simulate', { params: { path: { id: a.id } }, body }))).simulation
  })
  const [result, setResult] = useState<Played | null>(null)
  const go = async () => {
    const simulation = await play.run()
    if (!simulation) return
    const version = a.versions.find((v) => v.number === simulation.version)?.definition as { trigger?: unknown; steps?: unknown } | undefined
    const source = version ?? client.getQueryData<Automation>(definitionKey(a.id))
    const next = { simulation, trigger: source?.trigger, steps: stepsOf(source?.steps), taken: simulation.steps.map((s) => ({ key: s.key, status: s.status, output: s.output, error: s.error })) }
    setResult(next)
    onPlayed(next)
  }
  async function testSend() {
    const answer = await unwrap(rest.POST('/events', { params: { header: { 'Idempotency-Key': once.current } }, body: { name: event, email: email.trim() || null, user_id: userId.trim() || null, data: objectOf(data, 'Data'), automation_id: a.id, test_send: true } }))
    once.current = newIdempotencyKey()
    const run = answer.run?.id
    toast.success('Test run started', run ? { label: 'View run', run: () => void navigate({ to: `/automations/runs/${run}` as string }) } : undefined)
  }
  const change = (i: number, more: Partial<Later>) => setLater(later.map((l, j) => (j === i ? { ...l, ...more } : l)))
  return (
    <div className="grid items-start gap-6 p-4 md:p-6 lg:grid-cols-[minmax(0,380px)_minmax(0,1fr)]">
      <form className="grid gap-3" onSubmit={(e) => { e.preventDefault(); void go() }}>
        <h2>Sample event</h2>
        {a.version !== null && <Field label="Version">{(p) => <select {...p} className="input" value={which} onChange={(e) => setWhich(e.target.value as 'draft' | 'active')}><option value="draft">Saved draft</option><option value="active">Version {a.version}</option></select>}</Field>}
        {dirty && which === 'draft' && <p className="flex flex-wrap items-center gap-2 rounded-control bg-warn-soft px-3 py-2 text-warn">Unsaved changes aren’t included.{save && <button type="button" className="btn sm ml-auto" onClick={() => void save()}>Save draft</button>}</p>}
        <div className="grid gap-3 sm:grid-cols-2">
          <Field label="Email" error={play.fieldErrors['event.email']}>{(p) => <input {...p} className="input" value={email} onChange={(e) => setEmail(e.target.value)} />}</Field>
          <Field label="User ID" error={play.fieldErrors['event.user_id']}>{(p) => <input {...p} className="input" value={userId} onChange={(e) => setUserId(e.target.value)} />}</Field>
        </div>
        {samples.length > 0 && (
          <Field label="Use a received event" hint="Fills in the user and the data below.">{(p) => (
            <select {...p} className="input" defaultValue="" onChange={(e) => take(e.target.value)}><option value="">none</option>{samples.map((s) => <option key={s.id} value={s.id}>{s.email ?? s.userId ?? s.id}, {formatRelative(s.createdAt, Date.now())}</option>)}</select>
          )}</Field>
        )}
        <div className="grid gap-1"><span className="font-medium">Data</span><Code label="Event data (JSON)" language="json" value={data} onChange={setData} height="h-36" /></div>
        <fieldset className="grid gap-2">
          <legend className="mb-1 font-medium">Later events</legend>
          {later.map((l, i) => (
            <div key={i} className="grid gap-2 rounded-control border border-line p-2">
              <div className="flex gap-2">
                <label className="min-w-0 flex-1"><span className="text-xs text-ink-3">Name</span><input className="input" list="later-names" value={l.name} onChange={(e) => change(i, { name: e.target.value })} /></label>
                <label className="w-24"><span className="text-xs text-ink-3">After</span><input className="input" placeholder="PT3H" value={l.after} onChange={(e) => change(i, { after: e.target.value })} /></label>
                <button type="button" className="btn quiet square self-end" aria-label="Remove this event" onClick={() => setLater(later.filter((_, j) => j !== i))}><Trash2 aria-hidden /></button>
              </div>
              <label><span className="text-xs text-ink-3">Data, JSON</span><input className="input font-mono" placeholder="{}" value={l.data} onChange={(e) => change(i, { data: e.target.value })} /></label>
            </div>
          ))}
          <datalist id="later-names">{waits.map((w) => <option key={w} value={w} />)}</datalist>
          <div><button type="button" className="btn sm" onClick={() => setLater([...later, { after: 'PT1H', name: waits[0] ?? '', data: '' }])}><Plus aria-hidden />Add an event</button></div>
        </fieldset>
        {sends.length > 0 && (
          <details>
            <summary className="cursor-pointer font-medium">Step outcomes</summary>
            <ul className="mt-2 grid gap-2">
              {sends.map((s) => (
                <li key={s.key}><label className="flex items-center gap-2"><code className="min-w-0 flex-1 truncate">{s.key}</code>
                  <select className="input !w-44" value={outcomes[s.key] ?? ''} onChange={(e) => setOutcomes({ ...outcomes, [s.key]: e.target.value })}><option value="">succeeds</option>{kindOf(s.type).sides.includes('on_suppressed') && <option value="suppressed">is suppressed</option>}<option value="error">is rejected</option></select>
                </label></li>
              ))}
            </ul>
          </details>
        )}
        {play.error !== null && <ErrorAlert error={play.error} retry={() => void go()} />}
        <div className="flex flex-wrap gap-2">
          <button type="submit" className="btn primary" disabled={play.busy}><FlaskConical aria-hidden />Dry run</button>
          {can('SEND') && <button type="button" className="btn" onClick={() => setAsks(true)}>Test send</button>}
        </div>
      </form>
      {result ? <Trace played={result} /> : <p className="text-ink-2">A dry run simulates one run on a virtual clock, with the same engine as real runs. Nothing is stored or sent. You see each step, what it waited for, how its conditions were evaluated, and the emails it would send.</p>}
      {asks && (
        <ConfirmDialog title="Send real emails?" label="Send" onClose={() => setAsks(false)} run={testSend}>
          The automation runs once with this event, skipping delays and waits. Its emails are really sent to <b>{email || user?.email || 'the user of the event'}</b>.
        </ConfirmDialog>
      )}
    </div>
  )
}
