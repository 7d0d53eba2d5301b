import { Link } from '@tanstack/react-router'
import { ShieldAlert, ShieldCheck, Webhook } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useSearchParams } from '@/app/searchParams'
import { DataTable, NewRowsNotice, type Column } from '@/parts/DataTable'
import { EmptyState } from '@/parts/EmptyState'
import { Time } from '@/parts/Time'
import { HookRequest } from './HookRequest'
import { HookTools } from './HookTools'
import { useEndpoint, useNextHooks, useReceiver, type Hook } from './hooks'

const columns: Column<Hook>[] = [
  {
    key: 'hook', head: 'Webhook', cell: (h) => (
      <span className="block leading-5">
        <span className="flex gap-2"><Link to="/inbox" search={((old: Record<string, string>) => ({ ...old, open: String(h.number) })) as never} className="min-w-0 flex-1 truncate font-mono text-xs font-medium">{h.event_type || '(no event)'}</Link><span className="text-xs text-ink-3"><Time at={h.received_at} /></span></span>
        <span className="flex items-center gap-1 text-xs">
          {h.verified ? <ShieldCheck aria-label="Signature verified" className="!size-3.5 text-ok" /> : <ShieldAlert aria-label="Signature not verified" className="!size-3.5 text-bad" />}
          <span className={h.answer_status < 300 ? 'text-ink-2' : 'text-bad'}>responded {h.answer_status}</span>
          {h.attempt > 1 && <span className="text-ink-3">· attempt {h.attempt}</span>}
        </span>
      </span>
    ),
  },
]

// Hooks has two panes: the received webhooks, and the open one.
export function Hooks() {
  const [address, change] = useSearchParams()
  const receiver = useReceiver()
  const { endpoint, refetch: again } = useEndpoint(receiver.data?.url)
  const rows = receiver.data?.requests ?? []
  const newest = rows[0]?.number ?? 0
  const fresh = useNextHooks(newest, receiver.isSuccess).data?.requests.length ?? 0
  const [over, setOver] = useState(false)
  const { refetch } = receiver
  // New requests appear automatically, except under the pointer.
  useEffect(() => {
    if (fresh > 0 && !over) void refetch()
  }, [fresh, over, refetch])
  const open = (number: string | null) => change({ open: number ?? undefined })
  const shown = rows.find((h) => String(h.number) === address.open)
  return (
    <>
      {receiver.data && endpoint !== undefined && <div className={address.open ? 'max-md:hidden' : ''}><HookTools url={receiver.data.url} answer={receiver.data.answer_status} endpoint={endpoint} changed={() => { void refetch(); void again() }} /></div>}
      <div className="grid min-h-0 flex-1 md:grid-cols-[minmax(300px,400px)_minmax(0,1fr)]">
        <div className={`min-h-0 min-w-0 flex-col md:flex md:border-r md:border-line ${address.open ? 'hidden' : 'flex'}`} onPointerEnter={() => setOver(true)} onPointerLeave={() => setOver(false)}>
          <DataTable
            label="Received webhooks" rows={rows} columns={columns} height={56} idOf={(h) => String(h.number)} nameOf={(h) => h.event_type} open={address.open} onOpen={open}
            loading={receiver.isPending} error={receiver.error} retry={() => void refetch()} above={<NewRowsNotice count={over ? fresh : 0} show={() => void refetch()} />}
            empty={<EmptyState icon={Webhook} title={endpoint ? 'Waiting for a webhook' : 'No webhooks yet'}>{endpoint ? 'Send a test event or an email: your app gets the same payload.' : 'This is a built-in webhook receiver. Create an endpoint for it with the button above.'}</EmptyState>}
          />
        </div>
        <div className={`min-h-0 min-w-0 overflow-auto bg-raised ${address.open ? '' : 'max-md:hidden'}`} tabIndex={-1}>
          {shown ? <HookRequest key={shown.number} hook={shown} onClose={() => open(null)} />
            : <p className="px-6 py-16 text-center text-ink-3">{address.open ? 'This request is no longer stored.' : <>Select a webhook by clicking it, or with <kbd className="key">j</kbd> <kbd className="key">k</kbd> and <kbd className="key">Enter</kbd>.</>}</p>}
        </div>
      </div>
    </>
  )
}
