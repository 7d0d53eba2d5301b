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

// questions are the changes that are asked about before they are made.
function questions(a: Account) {
  return {
    suspend: { title: `Suspend ${a.name || a.email}?`, text: 'It can do everything but send, until you lift this. What was accepted already waits.', label: 'Suspend', danger: true, change: { suspended: true }, done: 'The account is suspended' },
    lift: { title: `Let ${a.name || a.email} send again?`, text: 'What waited goes out now.', label: 'Lift the suspension', change: { suspended: false }, done: 'The account sends again' },
    unlock: { title: 'Let it write to anybody?', text: 'Whatever its plan asks for: it needs no payment method, only a domain that it sends from.', label: 'Unlock', change: { production_unlocked: true }, done: 'The account may write to anybody' },
    lock: { title: 'Take back the unlocking?', text: 'The rules of its plan hold again: it may then write to its own address only.', label: 'Take it back', danger: true, change: { production_unlocked: false }, done: 'The rules of the plan hold again' },
    card: { title: 'Say that a payment method is on file?', text: 'For accounts that pay another way, as by invoice.', label: 'It is on file', change: { payment_method: true }, done: 'A payment method is on file' },
    uncard: { title: 'Say that no payment method is on file?', text: 'A plan that wants one then keeps the account in its sandbox.', label: 'None is on file', danger: true, change: { payment_method: false }, done: 'No payment method is on file' },
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
  if (!one.data) return <EmptyState icon={Users} title="No such account" />
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
            { name: 'Limit emails a month', run: () => setDialog('limit') },
            { name: account.productionUnlocked ? 'Take back the unlocking' : 'Let it write to anybody', run: () => setAsked(account.productionUnlocked ? ask.lock : ask.unlock) },
            { name: account.paymentMethodAt ? 'No payment method is on file' : 'A payment method is on file', run: () => setAsked(account.paymentMethodAt ? ask.uncard : ask.card) },
          ]} />
        </div>
      </div>
      <div className="flex flex-wrap gap-1.5"><AccountState account={account} />{account.unmetered && <Badge>No caps and no rate limit</Badge>}</div>
      <DetailList>
        <Detail name="Id"><CopyableId id={account.id} /></Detail>
        <Detail name="Email">{account.email}</Detail>
        <Detail name="Plan">{plans.data?.find((p) => p.id === account.planId)?.name ?? account.planId}</Detail>
        <Detail name="Today">{count(usage.day, '0')} emails <span className="text-ink-3">{usage.dailyCap === null ? '(no cap)' : `of ${count(usage.dailyCap)}`}</span></Detail>
        <Detail name="This month">{count(usage.month, '0')} emails <span className="text-ink-3">{usage.monthlyCap === null ? '(no cap)' : `of ${count(usage.monthlyCap)}`}</span></Detail>
        <Detail name="Stored data">{usage.storedBytes !== null && <>{formatBytes(usage.storedBytes)} <span className="text-ink-3">{usage.storedBytesCap === null ? '(no cap)' : `of ${formatBytes(usage.storedBytesCap)}`}</span></>}</Detail>
        <Detail name="Stored today">{usage.dailyBytes !== null && <>{formatBytes(usage.dailyBytes)} <span className="text-ink-3">{usage.dailyBytesCap === null ? '(no cap)' : `of ${formatBytes(usage.dailyBytesCap)}`}</span></>}</Detail>
        <Detail name="Own limit">{account.monthlyLimit === null ? null : `${account.monthlyLimit.toLocaleString()} emails a month`}</Detail>
        <Detail name="Suspended">{account.suspendedAt && <Time at={account.suspendedAt} exact />}</Detail>
        <Detail name="Overdue since">{account.paymentDueAt && <Time at={account.paymentDueAt} exact />}</Detail>
        <Detail name="Payment">{account.paymentMethodAt ? <>on file since <Time at={account.paymentMethodAt} /></> : 'no payment method'}</Detail>
        <Detail name="Unlocked">{account.productionUnlocked ? 'by an operator' : 'by the rules of its plan'}</Detail>
        <Detail name="Since"><Time at={account.createdAt} exact /></Detail>
      </DetailList>
      {dialog === 'plan' && <PlanOfAccountDialog account={account} onClose={() => setDialog(null)} />}
      {dialog === 'limit' && <LimitDialog account={account} onClose={() => setDialog(null)} />}
      {asked && <ConfirmDialog title={asked.title} label={asked.label} danger={asked.danger} onClose={() => setAsked(null)} run={async () => { await changes.account(account.id, asked.change); toast.success(asked.done) }}>{asked.text}</ConfirmDialog>}
    </div>
  )
}
