import { Plus } from 'lucide-react'
import { useState } from 'react'
import { useQueryClient } from '@tanstack/react-query'
import { useSearchParams } from '@/app/searchParams'
import { useViewer } from '@/app/viewer'
import { PageHead } from '@/parts/Page'
import { Tabs } from '@/parts/Tabs'
import { ApiKeys } from './ApiKeys'
import { CreateCredential } from './CreateCredential'
import { CreateKey } from './CreateKey'
import { Credentials } from './Credentials'
import { ApiKeyList, SmtpCredentialList } from './queries.gen'

export default function Page() {
  const [address, change] = useSearchParams()
  const { can, has } = useViewer()
  const queries = useQueryClient()
  const [creating, setCreating] = useState(Boolean(address.create) && can('WRITE'))
  const close = () => { setCreating(false); change({ create: undefined }) }
  const tab = address.tab === 'smtp' && has('relay') ? 'smtp' : 'api'
  const create = can('WRITE') ? <button type="button" className="btn primary" onClick={() => setCreating(true)}><Plus aria-hidden />{tab === 'smtp' ? 'Create SMTP credential' : 'Create API key'}</button> : undefined
  return (
    <>
      <PageHead title="API keys">{create}</PageHead>
      <div className="flex min-h-0 flex-1 flex-col [&>[role=tabpanel]]:flex [&>[role=tabpanel]]:min-h-0 [&>[role=tabpanel]]:flex-1 [&>[role=tabpanel]]:flex-col">
        <Tabs label="Key types" value={tab} onChange={(key) => change({ tab: key === 'api' ? undefined : key, q: undefined })} tabs={[{ key: 'api', name: 'API keys' }, { key: 'smtp', name: 'SMTP credentials', hidden: !has('relay') }]}>
          {tab === 'api' ? <ApiKeys create={create} /> : <Credentials create={create} />}
        </Tabs>
      </div>
      {creating && tab === 'api' && <CreateKey scope={address.create} onClose={close} made={() => void queries.invalidateQueries({ queryKey: [ApiKeyList.name] })} />}
      {creating && tab === 'smtp' && <CreateCredential onClose={() => setCreating(false)} made={() => void queries.invalidateQueries({ queryKey: [SmtpCredentialList.name] })} />}
    </>
  )
}
