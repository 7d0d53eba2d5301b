import { Hourglass } from 'lucide-react'
import type { components } from '@/api/rest.gen'
import { Badge } from '@/parts/Badge'
import { CodeBlock } from '@/parts/CodeBlock'
import { HtmlPreview } from '@/parts/HtmlPreview'
import { Detail, DetailList } from '@/parts/Page'
import { formatDuration } from '@/parts/Time'
import { Conditions } from './Conditions'
import type { Played } from './DryRun'
import { Way } from './Way'
import { lookOfOutcome } from './status'
import { lookOfStep } from './steps/kinds'

type Step = components['schemas']['SimulatedStep']

// Trace shows a dry run step by step, and its path on the canvas.
export function Trace({ played }: { played: Played }) {
  const { simulation: s } = played
  const look = lookOfOutcome(s.status)
  const since = (at: string) => Date.parse(at) - Date.parse(s.started_at)
  return (
    <section aria-label="Simulated run" aria-live="polite" className="grid min-w-0 gap-3">
      <div className="flex flex-wrap items-center gap-2"><h2>Simulated run</h2><Badge tone={look.tone} icon={look.icon}>{look.word}</Badge><span className="text-xs text-ink-3">{s.version === null ? 'the draft' : `version ${s.version}`}, over {formatDuration(since(s.ended_at))}</span></div>
      {s.error && <p className="smtp bad">{s.error}</p>}
      <Way trigger={played.trigger} steps={played.steps} taken={played.taken} chosen={(key) => document.getElementById(`taken ${key}`)?.scrollIntoView({ block: 'center' })} />
      {s.condition && <div className="grid gap-1"><h3 className="text-xs text-ink-3">Trigger condition</h3><Conditions list={[s.condition]} /></div>}
      {s.steps.length === 0 && <p className="text-ink-2">No steps ran.</p>}
      <ol className="grid gap-2">
        {s.steps.map((step, i) => <Taken key={i} step={step} after={since(step.started_at)} />)}
      </ol>
      {s.events.length > 0 && (
        <div className="grid gap-1">
          <h3 className="text-xs text-ink-3">Later events</h3>
          <ul className="grid gap-1">{s.events.map((e, i) => <li key={i} className="flex flex-wrap items-center gap-2"><code>{e.name}</code><span className="text-ink-2">{{ resumed: 'resumed the run', cancelled: 'cancelled the run', kept: 'saved for a later wait', nothing: 'had no effect' }[e.outcome]}{e.step_key && <> of <code>{e.step_key}</code></>}{e.starts && ', and starts another run'}</span><span className="text-xs text-ink-3">after {formatDuration(since(e.at))}</span></li>)}</ul>
        </div>
      )}
    </section>
  )
}

function Taken({ step, after }: { step: Step; after: number }) {
  const look = lookOfStep(step.type)
  const end = lookOfOutcome(step.status)
  const took = Date.parse(step.ended_at) - Date.parse(step.started_at)
  return (
    <li id={`taken ${step.key}`} className="grid min-w-0 gap-2 rounded-card border border-line p-3">
      <div className="flex flex-wrap items-center gap-2">
        <look.icon aria-hidden className="text-ink-2" /><b className="font-medium">{look.word}</b><code className="text-xs text-ink-3">{step.key}</code>
        <Badge tone={end.tone} icon={end.icon}>{end.word}</Badge>
        <span className="ml-auto text-xs text-ink-3" title={step.started_at}>{after < 1 ? 'immediately' : `after ${formatDuration(after)}`}</span>
      </div>
      {took > 0 && <p className="flex items-center gap-1.5 text-xs text-ink-2"><Hourglass aria-hidden className="!size-3.5" />Waited {formatDuration(took)}{step.wait && step.wait.events.length > 0 && <> for <code>{step.wait.events.join(', ')}</code>, at most {formatDuration(Date.parse(step.wait.until) - Date.parse(step.started_at))}</>}</p>}
      {step.error && <p className="smtp bad">{step.error}</p>}
      {step.conditions.length > 0 && <Conditions list={step.conditions} />}
      {step.email && (
        <details className="min-w-0">
          <summary className="cursor-pointer wrap-anywhere">Email to {step.email.to.join(', ')}: <b className="font-medium">{step.email.subject}</b></summary>
          <div className="mt-2 grid gap-2">
            <DetailList><Detail name="From">{step.email.from}</Detail><Detail name="Template">{step.email.template_id && `${step.email.template_id}, version ${step.email.template_version}`}</Detail></DetailList>
            {step.email.html ? <HtmlPreview html={step.email.html} label={`Email of ${step.key}`} className="h-72" /> : <CodeBlock text={step.email.text ?? ''} title="Text" wrap />}
          </div>
        </details>
      )}
      {step.sms && <CodeBlock title={`Text message to ${step.sms.to}, ${step.sms.segments} segments`} text={step.sms.text} wrap />}
      {step.request && <CodeBlock title={`${step.request.method} ${step.request.url}`} text={JSON.stringify(step.request.body, null, 2)} wrap max="max-h-60" />}
      {Object.keys(step.output).some((k) => k !== 'status') && <details><summary className="cursor-pointer text-xs text-ink-3">Available data</summary><div className="mt-1"><CodeBlock text={JSON.stringify(step.output, null, 2)} wrap max="max-h-60" /></div></details>}
    </li>
  )
}
