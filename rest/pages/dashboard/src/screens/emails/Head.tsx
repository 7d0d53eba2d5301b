import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useGraphQL } from '@/api/graphql'
import { useViewer } from '@/app/viewer'
import { AddressLink } from '@/parts/AddressLink'
import { Badge } from '@/parts/Badge'
import { CopyButton } from '@/parts/CopyButton'
import { ForeignText } from '@/parts/ForeignText'
import { Detail, DetailList } from '@/parts/Page'
import { Time } from '@/parts/Time'
import { Actions } from './Actions'
import type { Email } from './EmailView'
import { EmailAutomation, EmailKey, EmailTemplate } from './queries.gen'
import { lookOfEmail } from './status'

// Head shows an email's state, its actions, its sender and recipients, and its origin.
export function Head({ email }: { email: Email }) {
  const look = lookOfEmail(email)
  const { can, has } = useViewer()
  const key = useGraphQL(EmailKey, { id: email.id }, { enabled: can('READ') }).data?.email?.apiKey
  const template = useGraphQL(EmailTemplate, { id: email.id }, { enabled: has('templates') && can('READ') }).data?.email?.template
  const automation = useGraphQL(EmailAutomation, { id: email.id }, { enabled: has('automations') }).data?.email?.automation
  const settled = email.recipients.filter((r) => r.state === 'DELIVERED').length
  return (
    <section className="grid gap-3 p-4 pb-3 md:p-5 md:pb-3">
      <div className="flex flex-wrap items-center gap-2">
        <Badge tone={look.tone} icon={look.icon}>{look.word}</Badge>
        {email.recipients.length > 1 && <span className="text-xs text-ink-2">{settled} of {email.recipients.length} recipients delivered</span>}
        {email.status === 'SCHEDULED' && <span className="text-xs text-ink-2">sends <Time at={email.scheduledAt} /></span>}
      </div>
      <h2 className="text-xl tracking-[-0.012em] wrap-anywhere">{email.subject ? <ForeignText text={email.subject} /> : <span className="text-ink-3">No subject</span>}</h2>
      {email.bounceReason && <p className="smtp bad !mt-0">{email.bounceReason}</p>}
      <Actions email={email} />
      <DetailList>
        <Detail name="From"><ForeignText text={email.from} /></Detail>
        <Detail name="To"><Addresses list={email.to} /></Detail>
        {email.cc.length > 0 && <Detail name="Cc"><Addresses list={email.cc} /></Detail>}
        {email.bcc.length > 0 && <Detail name="Bcc"><Addresses list={email.bcc} /></Detail>}
        {email.replyTo.length > 0 && <Detail name="Reply to"><Addresses list={email.replyTo} /></Detail>}
        {email.tags.length > 0 && <Detail name="Tags"><span className="flex flex-wrap gap-1">{email.tags.map((t) => <Link key={t.name} to="/emails" search={{ q: `tag:${t.name}=${t.value}` } as never} className="chip !h-auto !whitespace-normal wrap-anywhere">{t.name}=<b>{t.value}</b></Link>)}</span></Detail>}
        {key && <Detail name="API key">{key.name} <code className="text-ink-3">{key.prefix}…</code>{has('apilog') && can('READ') && <> <Link className="link under" to="/requests" search={{ q: `email:${email.id}` } as never}>View request</Link></>}</Detail>}
        {template && <Detail name="Template"><Link className="link" to={`/templates/${template.id}`}>{template.name}</Link></Detail>}
        {automation && <Detail name="Automation"><Link className="link under" to={`/automations/${automation.automationId}`}>{automation.automationName ?? automation.automationId}</Link>{automation.stepKey && <span className="text-ink-3"> step <code>{automation.stepKey}</code></span>} <Link className="link under" to={`/automations/runs/${automation.runId}`}>run</Link></Detail>}
        <Detail name="Created"><Time at={email.createdAt} exact /></Detail>
        {email.scheduledAt && <Detail name="Scheduled"><Time at={email.scheduledAt} exact /></Detail>}
        {email.expiresAt && <Detail name="Expires"><Time at={email.expiresAt} exact /></Detail>}
      </DetailList>
    </section>
  )
}

const mostAddresses = 8

function Addresses({ list }: { list: string[] }) {
  const [all, setAll] = useState(list.length <= mostAddresses)
  const shown = all ? list : list.slice(0, mostAddresses - 1)
  return <>{shown.map((address) => <span key={address} className="flex items-center gap-1"><AddressLink address={address} /><CopyButton text={address} label={`Copy ${address}`} className="-my-1" /></span>)}
    {!all && <button type="button" className="link under" onClick={() => setAll(true)}>and {list.length - shown.length} more</button>}</>
}
