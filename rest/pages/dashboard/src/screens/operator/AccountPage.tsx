import { useParams } from '@tanstack/react-router'
import { CopyableId } from '@/parts/CopyButton'
import { PageHead } from '@/parts/Page'
import { AccountSheet } from './Account'

export default function AccountPage() {
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  return (
    <>
      <PageHead title={<CopyableId id={id} />} up={{ to: '/operator', name: 'Accounts' }} />
      <div className="min-h-0 flex-1 overflow-auto" tabIndex={-1}><div className="max-w-[1008px]"><AccountSheet id={id} /></div></div>
    </>
  )
}
