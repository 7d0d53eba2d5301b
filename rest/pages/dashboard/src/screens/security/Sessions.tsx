import { LogOut, Monitor } from 'lucide-react'
import { useState } from 'react'
import { unwrap, rest } from '@/api/rest'
import { toast } from '@/app/toasts'
import { Badge } from '@/parts/Badge'
import { ConfirmDialog } from '@/parts/ConfirmDialog'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Card } from '@/parts/Page'
import { SkeletonText } from '@/parts/Skeleton'
import { Time } from '@/parts/Time'
import { agentName } from './agent'
import { useAgain, useSessions } from './me'

const by: Record<string, string> = { password: 'with a password', passkey: 'with a passkey', oidc: 'with single sign-on', link: 'with a link' }

const few = 6

// Sessions lists the open sessions of the user.
export function Sessions() {
  const list = useSessions()
  const again = useAgain()
  const [ending, setEnding] = useState<string>()
  const [all, setAll] = useState(false)
  const rows = [...(list.data ?? [])].sort((a, b) => Number(b.current) - Number(a.current))
  const shown = all ? rows : rows.slice(0, few)
  const others = list.data?.filter((s) => !s.current).length ?? 0
  const one = list.data?.find((s) => s.id === ending)
  return (
    <Card title="Where you’re signed in" padded={false} actions={others > 0 && <button type="button" className="btn sm" onClick={() => setEnding('others')}><LogOut aria-hidden />Sign out everywhere else</button>}>
      {list.error ? <div className="p-4"><ErrorAlert error={list.error} retry={() => void list.refetch()} /></div>
        : !list.data ? <div className="p-4"><SkeletonText lines={3} /></div>
          : (
            <ul>
              {shown.map((s) => (
                <li key={s.id} className="flex items-center gap-3 border-b border-line-soft px-4 py-2 last:border-0">
                  <Monitor aria-hidden className="text-ink-3" />
                  <span className="min-w-0 flex-1">
                    <span className="flex flex-wrap items-center gap-2"><b className="truncate font-medium" title={s.user_agent}>{agentName(s.user_agent)}</b>{s.current && <Badge tone="ok">Current session</Badge>}</span>
                    <span className="block text-xs text-ink-3">{s.ip}, {by[s.method] ?? s.method}{s.second_factor && ' and 2FA'}, used <Time at={s.last_used_at} />, started <Time at={s.created_at} /></span>
                  </span>
                  {!s.current && <button type="button" className="btn quiet sm" aria-label={`Sign out ${agentName(s.user_agent)}`} onClick={() => setEnding(s.id)}>Sign out</button>}
                </li>
              ))}
              {rows.length > shown.length && <li className="px-4 py-2"><button type="button" className="btn sm" onClick={() => setAll(true)}>Show all {rows.length}</button></li>}
            </ul>
          )}
      {ending === 'others' && (
        <ConfirmDialog title="Sign out everywhere else?" label={`End ${others} ${others === 1 ? 'session' : 'sessions'}`} danger onClose={() => setEnding(undefined)} run={async () => { await unwrap(rest.DELETE('/sessions')); await again(); toast.success('All other sessions have ended') }}>
          Only this browser stays signed in. Other sessions end within five seconds.
        </ConfirmDialog>
      )}
      {one && (
        <ConfirmDialog title={`Sign out ${agentName(one.user_agent)}?`} label="End session" danger onClose={() => setEnding(undefined)} run={async () => { await unwrap(rest.DELETE('/sessions/{id}', { params: { path: { id: one.id } } })); await again(); toast.success('Session ended') }}>
          Last used <Time at={one.last_used_at} /> from {one.ip}.
        </ConfirmDialog>
      )}
    </Card>
  )
}
