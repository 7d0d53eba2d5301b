import { useQueryClient } from '@tanstack/react-query'
import { MailX, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useAddress } from '@/app/address'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { Confirm } from '@/parts/Confirm'
import { EmptyState } from '@/parts/EmptyState'
import { PageHead } from '@/parts/Page'
import { Segments } from '@/parts/Tabs'
import { clearInbox } from './caught'
import { Mails } from './Mails'
import { Play } from './Play'
import { Texts } from './Texts'

export default function Inbox() {
  const viewer = useViewer()
  const queries = useQueryClient()
  const [address, change] = useAddress()
  const [clearing, setClearing] = useState(false)
  const url = viewer.development?.inboxUrl
  if (!url) {
    return (
      <>
        <PageHead title="Development inbox" />
        <EmptyState icon={MailX} title="The inbox is off" command="postrider dev">Mail is caught in development mode only. It begins with:</EmptyState>
      </>
    )
  }
  const base = new URL(url, location.href).pathname
  const texts = viewer.has('sms') && address.kind === 'texts'
  return (
    <>
      <PageHead title="Development inbox">
        {viewer.has('sms') && <Segments label="Kind" choices={[{ key: 'mails', name: 'Mail' }, { key: 'texts', name: 'Texts' }]} value={texts ? 'texts' : 'mails'} onChange={(kind) => change({ kind: kind === 'texts' ? kind : undefined, open: undefined })} />}
        <button type="button" className="btn" onClick={() => setClearing(true)}><Trash2 aria-hidden />Clear</button>
      </PageHead>
      {viewer.can('SEND') && !texts && <div className={address.open ? 'max-md:hidden' : ''}><Play /></div>}
      {texts ? <Texts base={base} /> : <Mails base={base} />}
      {clearing && (
        <Confirm
          title="Clear the inbox?" label="Clear" danger onClose={() => setClearing(false)}
          run={async () => {
            await clearInbox(base)
            change({ open: undefined })
            await queries.invalidateQueries({ predicate: (q) => String(q.queryKey[0]).startsWith('inbox') })
            toast.ok('The inbox is empty')
          }}
        >All mail and text messages that were caught are deleted, for everyone who uses this machine. The emails of the account stay.</Confirm>
      )}
    </>
  )
}
