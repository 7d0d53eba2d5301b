import { Ban, CircleCheck, CreditCard, Users } from 'lucide-react'
import { useState } from 'react'
import { toast } from '@/app/toasts'
import { Badge } from '@/parts/Badge'
import { ConfirmDialog } from '@/parts/ConfirmDialog'
import { CopyableId } from '@/parts/CopyButton'
import { EmptyState } from '@/parts/EmptyState'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Menu } from '@/parts/Menu'
import { Detail, DetailList } from '@/parts/Page'
import { SkeletonText } from '@/parts/Skeleton'
import { Time } from '@/parts/Time'
import { formatBytes } from '@/parts/file'
import { LimitDialog, PlanOfAccountDialog } from './AccountDialogs'
import { count, useAccount, useChanges, usePlans, type Account, type AccountChange } from './data'

export function AccountState({ account }: { account: Account }) {
  if (account.suspendedAt) return <Badge tone="bad" icon={Ban}>Suspended</Badge>
  if (account.paymentDueAt) return <Badge tone="warn" icon={CreditCard}>Payment overdue</Badge>
  return <Badge tone="ok" icon={CircleCheck}>Active</Badge>
}

type Asked = { title: string; text: string; label: string; danger?: boolean; change: AccountChange; done: string }

// questions are the changes that require confirmation.
function questions(a: Account) {
  return {
    suspend: { title: `Suspend ${a.name || a.email}?`, text: 'The account can do everything except send until you lift the suspension. Accepted emails stay queued.', label: 'Suspend', danger: true, change: { suspended: true }, done: 'Account suspended' },
    lift: { title: `Lift the suspension of ${a.name || a.email}?`, text: 'Queued emails are sent now.', label: 'Lift suspension', change: { suspended: false }, done: 'Suspension lifted' },
    unlock: { title: 'Allow sending to any recipient?', text: 'Regardless of its plan: it needs no payment method, only a domain to send from.', label: 'Allow', change: { production_unlocked: true }, done: 'The account can send to any recipient' },
    lock: { title: 'Apply the plan’s rules again?', text: 'The account may then be able to send only to its own address.', label: 'Apply plan rules', danger: true, change: { production_unlocked: false }, done: 'The plan’s rules apply again' },
    card: { title: 'Mark a payment method as on file?', text: 'For accounts that pay another way, such as by invoice.', label: 'Mark as on file', change: { payment_method: true }, done: 'Payment method marked as on file' },
    uncard: { title: 'Mark the payment method as missing?', text: 'If its plan requires one, the account stays in its sandbox.', label: 'Mark as missing', danger: true, change: { payment_method: false }, done: 'Payment method marked as missing' },
  } satisfies Record<string, Asked>
}

export function AccountSheet({ id }: { id: string }) {
  const one = useAccount(id)
  const plans = usePlans()
  const changes = useChanges()
  const [asked, setAsked] = useState<Asked | null>(null)
  const [dialog, setDialog] = useState<'plan' | 'limit' | null>(null)
  if (one.error) return <div className="p-4 md:p-5"><ErrorAlert error={one.error} retry={() => void one.refetch()} /></div>
  if (one.isPending) return <div className="p-4 md:p-5"><SkeletonText lines={6} /></div>
  if (!one.data) return <EmptyState icon={Users} title="Account not found" />
  const { account, usage } = one.data
  const ask = questions(account)
  return (
    <div className="grid gap-4 p-4 md:p-5">
      <div className="flex flex-wrap items-start gap-2">
        <h2 className="min-w-0 flex-[1_1_200px] text-xl wrap-anywhere">{account.name || account.email}</h2>
        <div className="flex gap-2">
          <button type="button" className="btn" onClick={() => setDialog('plan')}>Change plan</button>
          {account.suspendedAt ? <button type="button" className="btn" onClick={() => setAsked(ask.lift)}>Lift suspension</button> : <button type="button" className="btn !text-bad" onClick={() => setAsked(ask.suspend)}>Suspend</button>}
          <Menu entries={[
            { name: 'Set monthly limit', run: () => setDialog('limit') },
            { name: account.productionUnlocked ? 'Apply plan rules' : 'Allow sending to any recipient', run: () => setAsked(account.productionUnlocked ? ask.lock : ask.unlock) },
            { name: account.paymentMethodAt ? 'Mark payment method as missing' : 'Mark payment method as on file', run: () => setAsked(account.paymentMethodAt ? ask.uncard : ask.card) },
          ]} />
        </div>
      </div>
      <div className="flex flex-wrap gap-1.5"><AccountState account={account} />{account.unmetered && <Badge>Unlimited, with no rate limit</Badge>}</div>
      <DetailList>
        <Detail name="ID"><CopyableId id={account.id} /></Detail>
        <Detail name="Email">{account.email}</Detail>
        <Detail name="Plan">{plans.data?.find((p) => p.id === account.planId)?.name ?? account.planId}</Detail>
        <Detail name="Today">{count(usage.day, '0')} emails <span className="text-ink-3">{usage.dailyCap === null ? '(unlimited)' : `of ${count(usage.dailyCap)}`}</span></Detail>
        <Detail name="This month">{count(usage.month, '0')} emails <span className="text-ink-3">{usage.monthlyCap === null ? '(unlimited)' : `of ${count(usage.monthlyCap)}`}</span></Detail>
        <Detail name="Stored data">{usage.storedBytes !== null && <>{formatBytes(usage.storedBytes)} <span className="text-ink-3">{usage.storedBytesCap === null ? '(unlimited)' : `of ${formatBytes(usage.storedBytesCap)}`}</span></>}</Detail>
        <Detail name="Stored today">{usage.dailyBytes !== null && <>{formatBytes(usage.dailyBytes)} <span className="text-ink-3">{usage.dailyBytesCap === null ? '(unlimited)' : `of ${formatBytes(usage.dailyBytesCap)}`}</span></>}</Detail>
        <Detail name="Custom limit">{account.monthlyLimit === null ? null : `${account.monthlyLimit.toLocaleString()} emails per month`}</Detail>
        <Detail name="Suspended">{account.suspendedAt && <Time at={account.suspendedAt} exact />}</Detail>
        <Detail name="Overdue since">{account.paymentDueAt && <Time at={account.paymentDueAt} exact />}</Detail>
        <Detail name="Payment">{account.paymentMethodAt ? <>on file since <Time at={account.paymentMethodAt} /></> : 'no payment method'}</Detail>
        <Detail name="Sandbox lifted">{account.productionUnlocked ? 'by an operator' : 'by its plan’s rules'}</Detail>
        <Detail name="Created"><Time at={account.createdAt} exact /></Detail>
      </DetailList>
      {dialog === 'plan' && <PlanOfAccountDialog account={account} onClose={() => setDialog(null)} />}
      {dialog === 'limit' && <LimitDialog account={account} onClose={() => setDialog(null)} />}
      {asked && <ConfirmDialog title={asked.title} label={asked.label} danger={asked.danger} onClose={() => setAsked(null)} run={async () => { await changes.account(account.id, asked.change); toast.success(asked.done) }}>{asked.text}</ConfirmDialog>}
    </div>
  )
}
