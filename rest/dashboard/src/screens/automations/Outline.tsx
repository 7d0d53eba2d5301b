import { ArrowDown, CornerDownRight, Play } from 'lucide-react'
import { useMemo, type KeyboardEvent, type ReactNode } from 'react'
import { useAddress } from '@/app/address'
import { Failure } from '@/parts/Failure'
import { SkeletonRows } from '@/parts/Skeleton'
import { useDefinition, type Detail, type Problem } from './definition'
import { outlineOf, stepsOf, type Node, type Way } from './outline'
import { ProblemList } from './Problems'
import { eventOf, lookOfStep } from './status'

type Figures = Detail['steps'][number]

// Outline is the automation from its trigger on: steps in order, below each step that decides its ways
// on. Arrow keys go from step to step.
export function Outline({ automation: a, problems }: { automation: Detail; problems: Problem[] }) {
  const read = useDefinition(a.id)
  const [, change] = useAddress()
  const steps = stepsOf(read.data?.steps)
  const tree = useMemo(() => outlineOf(stepsOf(read.data?.steps)), [read.data])
  const figures = useMemo(() => new Map(a.steps.map((s) => [s.key, s])), [a.steps])
  if (read.error && !read.data) return <Failure error={read.error} retry={() => void read.refetch()} />
  if (!read.data) return <SkeletonRows rows={5} />
  const trigger = (read.data.trigger ?? {}) as { conditions?: string; re_entry?: unknown; cancel_on_events?: (string | { event: string })[] }
  const cancels = trigger.cancel_on_events?.map((c) => (typeof c === 'string' ? c : c.event)) ?? []
  const again = typeof trigger.re_entry === 'object' && trigger.re_entry !== null ? `at most every ${String((trigger.re_entry as { at_most_every?: string }).at_most_every)}` : { once: 'once for each person', after_completion: 'again once the last run has ended' }[String(trigger.re_entry)] ?? 'every time'
  const edit = (path: string) => change({ tab: 'definition', at: path }, true)
  return (
    <div className="mx-auto grid w-full max-w-[920px] gap-4">
      {problems.length > 0 && <section aria-label="Problems" className="grid gap-2"><h2>Before it can be activated</h2><ProblemList problems={problems} go={(p) => edit(p.path)} /></section>}
      <div onKeyDown={move} role="group" aria-label="Outline. Arrow keys go from step to step.">
        <Block onOpen={() => edit('trigger')} icon={<Play aria-hidden />} title={<>On <code>{eventOf(read.data.trigger)}</code></>}>
          {trigger.conditions && <p>Only if <code className="wrap-anywhere">{trigger.conditions}</code></p>}
          <p>Runs {again}.{cancels.length > 0 && <> Cancelled by {cancels.map((c, i) => <span key={c}>{i > 0 && ', '}<code>{c}</code></span>)}.</>}</p>
        </Block>
        <Sequence nodes={tree.nodes} end={steps.length === 0 ? 'There are no steps.' : tree.end} figures={figures} edit={edit} runs={(key) => change({ tab: 'runs', q: `step:${key}` }, true)} />
      </div>
      <p className="text-xs text-ink-3">Figures are of the runs that are still kept, over all versions, counted at most every ten seconds.</p>
    </div>
  )
}

// move goes to the step before or after by the arrow keys.
function move(e: KeyboardEvent<HTMLDivElement>) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[e.key]
  if (!by) return
  const all = [...e.currentTarget.querySelectorAll<HTMLElement>('[data-step]')]
  const at = all.findIndex((el) => el.contains(document.activeElement) || el === document.activeElement)
  const next = all[at + by]
  if (!next) return
  e.preventDefault()
  next.focus()
}

function Block({ icon, title, children, onOpen, foot }: { icon: ReactNode; title: ReactNode; children?: ReactNode; onOpen: () => void; foot?: ReactNode }) {
  return (
    <div className="rounded-card border border-line bg-surface px-3 py-2 focus-within:border-line-strong hover:border-line-strong">
      <div className="flex items-start gap-2">
        <span className="mt-0.5 text-ink-2">{icon}</span>
        <div className="min-w-0 flex-1">
          <button type="button" data-step onClick={onOpen} className="block max-w-full text-left font-medium wrap-anywhere hover:underline">{title}<span className="sr-only">. Edit it in the definition</span></button>
          <div className="grid gap-0.5 text-xs text-ink-2">{children}</div>
        </div>
      </div>
      {foot}
    </div>
  )
}

interface SequenceProps {
  nodes: Node[]
  end: string
  figures: Map<string, Figures>
  edit: (path: string) => void
  runs: (key: string) => void
}

function Sequence({ nodes, end, figures, edit, runs }: SequenceProps) {
  return (
    <ol>
      {nodes.map((n) => <StepItem key={n.index} node={n} figures={figures} edit={edit} runs={runs} />)}
      {end && <li className="flex items-center gap-1.5 py-1 pl-3 text-xs text-ink-3"><CornerDownRight aria-hidden className="!size-3.5" />{end}</li>}
    </ol>
  )
}

function StepItem({ node: n, figures, edit, runs }: { node: Node } & Omit<SequenceProps, 'nodes' | 'end'>) {
  const look = lookOfStep(n.step.type)
  const known = figures.get(n.key)
  const name = n.step.name ?? look.word
  return (
    <li>
      <div aria-hidden className="flex h-5 items-center pl-[18px] text-ink-3"><ArrowDown className="!size-3" /></div>
      <Block icon={<look.icon aria-hidden />} title={<>{name} <code className="text-xs font-normal text-ink-3">{n.key}</code></>} onOpen={() => edit(`steps[${n.index}]`)} foot={known && <StepFigures figures={known} runs={() => runs(n.key)} />}>
        {known && <p className="wrap-anywhere">{known.summary}</p>}
      </Block>
      {n.ways.length > 0 && (
        <ul className="mt-1 ml-3 grid gap-1 border-l-2 border-line pl-3 md:ml-5 md:pl-4">
          {n.ways.map((w: Way, i) => (
            <li key={i} className="min-w-0 pt-1">
              <p className="flex flex-wrap items-center gap-x-2 text-xs"><span className="font-medium text-ink-2 wrap-anywhere">{w.label}</span>{w.nodes.length === 0 && w.end && <span className="text-ink-3">{w.end}</span>}</p>
              {w.nodes.length > 0 && <Sequence nodes={w.nodes} end={w.end} figures={figures} edit={edit} runs={runs} />}
            </li>
          ))}
        </ul>
      )}
    </li>
  )
}

function StepFigures({ figures: f, runs }: { figures: Figures; runs: () => void }) {
  const s = f.stats
  const said: [string, number, string?][] = [['came here', s.entered], ['done', s.completed], ['timed out', s.timedOut], ['skipped', s.skipped], ['failed', s.failed, 'text-bad'], ['cancelled', s.cancelled], ['here now', s.waiting, 'text-accent']]
  if (s.emails) {
    said.push(['delivered', s.emails.delivered], ['bounced', s.emails.bounced, 'text-bad'])
    if (s.emails.opened !== null) said.push(['opened', s.emails.opened])
    if (s.emails.clicked !== null) said.push(['clicked', s.emails.clicked])
  }
  if (s.sms) said.push(['texts delivered', s.sms.delivered], ['texts failed', s.sms.failed, 'text-bad'])
  const shown = said.filter(([, n], i) => i === 0 || n > 0)
  return (
    <div className="mt-1.5 flex flex-wrap items-center gap-x-3 gap-y-0.5 border-t border-line-soft pt-1.5 text-xs text-ink-2">
      {shown.map(([name, n, tone]) => <span key={name} className={tone}><b className="font-medium tabular-nums">{n.toLocaleString()}</b> {name}</span>)}
      {s.entered > 0 && <button type="button" className="link ml-auto" onClick={runs}>Runs here</button>}
    </div>
  )
}
