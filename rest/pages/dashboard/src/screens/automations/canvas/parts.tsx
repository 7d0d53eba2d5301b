import { BaseEdge, EdgeLabelRenderer, Handle, Position, type EdgeProps, type NodeProps } from '@xyflow/react'
import { CircleAlert, CircleCheck, CircleX, Play, TriangleAlert } from 'lucide-react'
import { memo } from 'react'
import { Insert } from '../Insert'
import { sentenceOf } from '../model/sentence'
import { againOf, settingOf } from '../model/summary'
import { keyOfStep } from '../model/ways'
import { MarkBadge } from '../OutlineBlock'
import { useScene } from '../scene'
import { eventOf } from '../status'
import { lookOfStep } from '../steps/kinds'
import { pathOf, type FlowEdge, type FlowNode } from './flow'

const ends = (
  <>
    <Handle type="target" position={Position.Top} isConnectable={false} className="invisible" />
    <Handle type="source" position={Position.Bottom} isConnectable={false} className="invisible" />
  </>
)

// StepNode is a step or the trigger on the canvas.
export const StepNode = memo(function StepNode({ data: { key } }: NodeProps<FlowNode>) {
  const { trigger, steps, figures, troubles, marks, selected, edit } = useScene()
  const step = steps.find((s, i) => keyOfStep(s, i) === key)
  const look = step ? lookOfStep(step.type) : { word: 'Trigger', icon: Play }
  const own = troubles.filter((t) => t.at === key)
  const bad = own.find((t) => t.bad) ?? own[0]
  const known = figures.get(key)
  const mark = marks.get(key)
  const dim = marks.size > 0 && !mark && key !== 'trigger'
  const setting = step ? settingOf(step) : `Runs ${againOf(trigger)}`
  return (
    <div className={`grid h-full grid-cols-[minmax(0,1fr)] content-start overflow-hidden rounded-card border bg-raised text-left ${selected === key ? 'border-accent shadow-[0_0_0_1px_var(--color-accent)]' : mark ? 'border-line-strong' : 'border-line'} ${dim || edit?.carried === key ? 'border-dashed' : ''}`}>
      {ends}
      <div className="flex items-start gap-2 px-3 pt-2">
        <look.icon aria-hidden className={`mt-0.5 ${dim ? 'text-ink-3' : 'text-accent'}`} />
        <div className="min-w-0 flex-1">
          <p className="truncate font-medium" title={step?.name}>{step ? (step.name ?? look.word) : eventOf(trigger) ? `On ${eventOf(trigger)}` : 'Choose an event'}</p>
          <p className="truncate text-xs text-ink-2" title={setting}>{step?.name && setting ? setting : setting || look.word}</p>
        </div>
        {mark && <MarkBadge mark={mark} />}
      </div>
      {bad && <p title={own.map(sentenceOf).join('\n')} className={`mt-1 flex min-w-0 items-center gap-1 px-3 text-xs ${bad.bad ? 'text-bad' : 'text-warn'}`}>{bad.bad ? <CircleAlert aria-hidden className="!size-3.5" /> : <TriangleAlert aria-hidden className="!size-3.5" />}<span className="min-w-0 truncate">{own.length > 1 ? `${own.length} problems` : sentenceOf(bad)}</span></p>}
      {known && known.stats.entered > 0 && (
        <p className="mt-1.5 flex gap-3 border-t border-line-soft px-3 pt-1 text-xs text-ink-2">
          {([['in', known.stats.entered, ''], ['here', known.stats.waiting, 'text-accent'], ['done', known.stats.completed, ''], ['failed', known.stats.failed, 'text-bad']] as const).map(([word, n, tone]) => <span key={word} className={`whitespace-nowrap ${n > 0 ? tone : 'text-ink-3'}`}><b className="font-medium tabular-nums">{n.toLocaleString()}</b> {word}</span>)}
        </p>
      )}
    </div>
  )
})

export const EndNode = memo(function EndNode({ data: { failed } }: NodeProps<FlowNode>) {
  const Icon = failed ? CircleX : CircleCheck
  return <div className={`flex h-full items-center justify-center gap-1 rounded-panel border border-line bg-sunken text-xs ${failed ? 'text-bad' : 'text-ink-2'}`}>{ends}<Icon aria-hidden className="!size-3" />{failed ? 'fail' : 'end'}</div>
})

export function WayEdge({ data }: EdgeProps<FlowEdge>) {
  if (!data) return null
  return (
    <>
      <BaseEdge path={pathOf(data.points)} className={data.taken ? '!stroke-accent !stroke-2' : data.dim ? '!stroke-line' : '!stroke-line-strong'} />
      <EdgeLabelRenderer>
        <div className="pointer-events-auto absolute flex max-w-[190px] items-center gap-1 bg-canvas" style={{ transform: `translate(-50%, -50%) translate(${data.at.x}px, ${data.at.y}px)` }}>
          {data.label && <span className={`truncate px-0.5 text-xs ${data.taken ? 'font-medium text-accent' : 'text-ink-2'}`} title={data.label}>{data.label}</span>}
          {data.place && <Insert place={data.place} label={data.about} />}
        </div>
      </EdgeLabelRenderer>
    </>
  )
}
