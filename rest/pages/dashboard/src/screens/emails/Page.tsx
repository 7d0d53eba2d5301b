import { useParams } from '@tanstack/react-router'
import { CopyableId } from '@/parts/CopyButton'
import { PageHead } from '@/parts/Page'
import { EmailView } from './EmailView'

export default function Page() {
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  return (
    <>
      <PageHead title={<CopyableId id={id} />} up={{ to: '/emails', name: 'Emails' }} />
      <div className="min-h-0 flex-1 overflow-auto" tabIndex={-1}><EmailView key={id} id={id} /></div>
    </>
  )
}
