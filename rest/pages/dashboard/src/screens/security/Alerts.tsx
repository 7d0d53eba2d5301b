import { useState } from 'react'
import { unwrap, rest } from '@/api/rest'
import { useViewer } from '@/app/viewer'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { useWrite } from '@/parts/Form'
import { Card } from '@/parts/Page'
import { Switch } from '@/parts/Switch'
import { useAgain } from './me'

type Topic = 'webhooks' | 'domains' | 'rates' | 'deliverability' | 'usage'
type Preferences = Record<Topic, boolean>

const topics: { key: Topic; label: string; about: string; right: 'WRITE' | 'BILLING' }[] = [
  { key: 'webhooks', label: 'Disabled endpoints', about: 'A webhook endpoint responded 410 or failed 30 times in a row, and was disabled.', right: 'WRITE' },
  { key: 'domains', label: 'Broken domains', about: 'DNS records of a verified domain are missing or wrong, or another account claimed the domain.', right: 'WRITE' },
  { key: 'rates', label: 'Bounce and complaint rates', about: 'In 24 hours, more than 5 % of recipients bounced, or more than 0.1 % or 0.3 % complained.', right: 'WRITE' },
  { key: 'deliverability', label: 'Mailbox providers', about: 'A provider, such as Gmail, starts to refuse or defer the mail of a domain, compared with the week before.', right: 'WRITE' },
  { key: 'usage', label: 'Usage', about: '80 % or all of a monthly limit is used, or of the emails included in the plan.', right: 'BILLING' },
]

// Alerts switches the emails about problems of the current team. It shows the topics that the person's role gets.
export function Alerts({ on, email }: { on: Preferences; email: string }) {
  const { can } = useViewer()
  const again = useAgain()
  // The switch shows the new state while it is saved.
  const [next, setNext] = useState<Partial<Preferences>>({})
  const save = useWrite(async (change: Partial<Preferences>) => {
    setNext(change)
    try {
      await unwrap(rest.PATCH('/user', { body: { alerts: change } }))
      await again()
    } finally {
      setNext({})
    }
  })
  const shown = topics.filter((t) => can(t.right))
  if (shown.length === 0) return null
  return (
    <Card title="Email alerts">
      <div className="grid gap-4">
        <p className="text-ink-2">Sent to {email} about problems of this team. Webhooks get the same events.</p>
        {shown.map((t) => <Switch key={t.key} label={t.label} on={next[t.key] ?? on[t.key]} disabled={save.busy} set={(wanted) => void save.run({ [t.key]: wanted })}>{t.about}</Switch>)}
        {save.error ? <ErrorAlert error={save.error} /> : null}
      </div>
    </Card>
  )
}
