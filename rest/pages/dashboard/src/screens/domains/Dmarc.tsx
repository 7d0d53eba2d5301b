import { CopyButton } from '@/parts/CopyButton'
import { Card } from '@/parts/Page'
import type { Domain } from './Page'

const policy = (text: string) => /(?:^|;)\s*p\s*=\s*(\w+)/i.exec(text)?.[1]?.toLowerCase()

// Dmarc recommends the next step of DMARC.
export function Dmarc({ domain }: { domain: Domain }) {
  const record = domain.records.find((r) => r.purpose === 'dmarc')
  if (!record) return null
  const published = record.found.find((f) => /^v=DMARC1/i.test(f)) ?? (record.status === 'verified' ? record.value : '')
  const now = policy(published)
  const reports = /rua\s*=/i.test(published)
  // The proposed record has a report address if the installation receives reports.
  const proposed = /(?:^|;)\s*rua\s*=\s*([^;\s]+)/i.exec(record.value)?.[1]
  const rua = proposed ?? `mailto:dmarc@${domain.name}`
  const steps = [
    { p: 'none', title: 'Monitor', words: 'Mail is delivered as usual, and reports show who sends as your domain. Stay here for two to four weeks.', value: `v=DMARC1; p=none; rua=${rua}` },
    { p: 'quarantine', title: 'Send failing mail to spam', words: 'Once the reports show that all your own mail passes SPF or DKIM.', value: `v=DMARC1; p=quarantine; rua=${rua}` },
    { p: 'reject', title: 'Reject failing mail', words: 'Use this after a few weeks without problems. The domain can then no longer be spoofed.', value: `v=DMARC1; p=reject; rua=${rua}` },
  ]
  return (
    <Card title="DMARC advice">
      <div className="grid gap-3">
        <p className="max-w-[720px] text-ink-2">
          {now === undefined && 'No DMARC policy found. Gmail and Yahoo require one from bulk senders. Start with p=none.'}
          {now === 'none' && 'The policy is p=none, which only monitors. This satisfies Gmail and Yahoo, but doesn’t stop spoofing.'}
          {now === 'quarantine' && 'The policy is p=quarantine: failing mail goes to spam. The final step is p=reject.'}
          {now === 'reject' && 'The policy is p=reject, the strictest. Nothing to do.'}
          {now !== undefined && !reports && ' It doesn’t request reports: add rua= with a mailbox to receive them.'}
        </p>
        <ol className="grid gap-3 md:grid-cols-3">
          {steps.map((s, i) => (
            <li key={s.p} aria-current={s.p === now ? 'step' : undefined} className={`grid content-start gap-1 rounded-card border p-3 ${s.p === now ? 'border-accent bg-accent-soft' : 'border-line'}`}>
              <p className="font-medium">{i + 1}. {s.title}{s.p === now && <span className="font-normal text-accent">: current policy</span>}</p>
              <p className="text-xs text-ink-2">{s.words}</p>
              <p className="flex items-start gap-0.5"><code className="min-w-0 flex-1 text-xs wrap-anywhere">{s.value}</code><CopyButton text={s.value} label={`Copy the record for p=${s.p}`} /></p>
            </li>
          ))}
        </ol>
        <p className="text-xs text-ink-3">Publish it as a TXT record at <code>{record.name}</code>. {proposed ? 'Postrider receives the reports and shows them on the Deliverability tab.' : `Use an existing mailbox instead of dmarc@${domain.name}.`}</p>
      </div>
    </Card>
  )
}
