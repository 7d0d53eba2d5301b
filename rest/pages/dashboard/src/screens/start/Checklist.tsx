import { Link } from '@tanstack/react-router'
import { Check, ChevronRight } from 'lucide-react'
import { useViewer } from '@/app/viewer'
import { Card } from '@/parts/Page'
import { FirstEmail } from './Happening'
import { SendOne } from './SendOne'

interface Step {
  done: boolean
  name: string
  about: string
  to?: string
  search?: Record<string, string>
  hidden?: boolean
}

// Checklist lists the steps to the first real email. It disappears once all are done. With `first`, the first step
// contains the code, and the email that it sends.
export function Checklist({ first, email, bounced, verified, domains, webhooks }: { first: boolean; email: { id: string; to: string[] } | undefined; bounced: boolean; verified: boolean; domains: boolean; webhooks: boolean }) {
  const viewer = useViewer()
  const failures = viewer.development?.failures
  const receiver = Boolean(viewer.development?.inboxUrl) && viewer.has('webhooks')
  const steps: Step[] = [
    { done: email !== undefined, name: 'Send a first email', about: first ? 'Run this code and watch the email show up here.' : 'Use the code below.' },
    { done: verified, name: domains ? 'Verify your domain' : 'Add a domain', about: domains ? 'Some of its DNS records are missing.' : 'So that your emails are signed and delivered.', to: '/domains', hidden: !viewer.has('domains') },
    { done: bounced, name: 'Simulate a bounce', about: 'See the server’s reply and the suppression it creates.', to: '/inbox', hidden: !failures?.includes('bounce') || !viewer.can('SEND') },
    { done: webhooks, name: 'Add a webhook', about: receiver ? 'Receive it here, make it fail, replay it: your app gets the same payload.' : 'Your app is notified about every email.', to: receiver ? '/inbox' : '/webhooks', search: receiver ? { kind: 'webhooks' } : undefined, hidden: !viewer.has('webhooks') },
    { done: viewer.account?.productionUnlocked ?? false, name: 'Go live', about: 'Choose a plan or add a payment method. Until then, emails go only to your own address.', to: '/settings/billing', hidden: viewer.development !== null },
  ]
  const shown = steps.filter((s) => !s.hidden)
  const left = shown.filter((s) => !s.done).length
  if (left === 0 && !first) return null
  return (
    <Card title="Set up" padded={false} actions={<span className="text-xs text-ink-3">{shown.length - left} of {shown.length} done</span>}>
      <ol>
        {shown.map((s, i) => (
          <li key={s.name} className="border-t border-line-soft first:border-t-0">
            <Row step={s} number={i + 1} />
            {i === 0 && first && <><SendOne /><FirstEmail email={email} /></>}
          </li>
        ))}
      </ol>
    </Card>
  )
}

function Row({ step, number }: { step: Step; number: number }) {
  const inner = (
    <>
      <span className={`grid size-5 flex-none place-items-center rounded-full border-[1.5px] text-2xs ${step.done ? 'border-ok bg-ok text-surface' : 'border-line-strong text-ink-3'}`}>
        {step.done ? <Check aria-label="done" className="!size-3 [stroke-width:2.5]" /> : number}
      </span>
      <span className="min-w-0 flex-1">
        <span className={step.done ? 'text-ink-2' : 'font-medium'}>{step.name}</span>
        {!step.done && <span className="block text-xs text-ink-3">{step.about}</span>}
      </span>
    </>
  )
  const line = 'flex min-h-12 items-center gap-3 px-4 py-2'
  if (step.done || !step.to) return <div className={line}>{inner}</div>
  return <Link to={step.to} search={step.search as never} className={`${line} hover:bg-hover`}>{inner}<ChevronRight aria-hidden className="!size-3.5 text-ink-3" /></Link>
}
