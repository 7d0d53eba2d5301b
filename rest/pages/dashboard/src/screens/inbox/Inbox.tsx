import { useQueryClient } from '@tanstack/react-query'
import { MailX, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useSearchParams } from '@/app/searchParams'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { ConfirmDialog } from '@/parts/ConfirmDialog'
import { EmptyState } from '@/parts/EmptyState'
import { PageHead } from '@/parts/Page'
import { SegmentedControl } from '@/parts/Tabs'
import { clearInbox } from './caught'
import { Hooks } from './Hooks'
import { clearHooks, hooksKey } from './hooks'
import { Mails } from './Mails'
import { Play } from './Play'
import { Texts } from './Texts'

export default function Inbox() {
  const viewer = useViewer()
  const queries = useQueryClient()
  const [address, change] = useSearchParams()
  const [clearing, setClearing] = useState(false)
  const url = viewer.development?.inboxUrl
  if (!url) {
    return (
      <>
        <PageHead title="Development inbox" />
        <EmptyState icon={MailX} title="The inbox is disabled" command="postrider dev">Email is captured in development mode only. Start it with:</EmptyState>
      </>
    )
  }
  const base = new URL(url, location.href).pathname
  const kinds = [
    { key: 'mails', name: 'Emails' },
    { key: 'texts', name: 'Texts', hidden: !viewer.has('sms') },
    { key: 'webhooks', name: 'Webhooks', hidden: !viewer.has('webhooks') || !viewer.can('READ') },
  ].filter((k) => !k.hidden)
  const kind = kinds.find((k) => k.key === address.kind)?.key ?? 'mails'
  const hooks = kind === 'webhooks'
  return (
    <>
      <PageHead title={<><span className="max-sm:hidden">Development inbox</span><span className="sm:hidden">Inbox</span></>}>
        {kinds.length > 1 && <SegmentedControl label="Kind" choices={kinds} value={kind} onChange={(next) => change({ kind: next === 'mails' ? undefined : next, open: undefined, tab: undefined })} />}
        {(!hooks || viewer.can('WRITE')) && <button type="button" className="btn" aria-label="Clear" onClick={() => setClearing(true)}><Trash2 aria-hidden /><span className="max-md:hidden">Clear</span></button>}
      </PageHead>
      {viewer.can('SEND') && kind === 'mails' && <div className={address.open ? 'max-md:hidden' : ''}><Play /></div>}
      {kind === 'mails' ? <Mails base={base} /> : kind === 'texts' ? <Texts base={base} /> : <Hooks />}
      {clearing && (
        <ConfirmDialog
          title={hooks ? 'Clear webhooks?' : 'Clear the inbox?'} label="Clear" danger onClose={() => setClearing(false)}
          run={async () => {
            await (hooks ? clearHooks() : clearInbox(base))
            change({ open: undefined })
            await queries.invalidateQueries({ predicate: (q) => String(q.queryKey[0]).startsWith(hooks ? hooksKey : 'inbox') })
            toast.success(hooks ? 'Webhooks cleared' : 'Inbox cleared')
          }}
        >{hooks ? 'Deletes the captured requests of this account. Endpoints and deliveries are kept.' : 'Deletes all captured emails and text messages, for everyone using this machine. The account’s own emails are kept.'}</ConfirmDialog>
      )}
    </>
  )
}
