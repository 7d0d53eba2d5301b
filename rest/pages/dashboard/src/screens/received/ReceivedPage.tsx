import { useNavigate, useParams } from '@tanstack/react-router'
import { CopyableId } from '@/parts/CopyButton'
import { PageHead } from '@/parts/Page'
import { Message } from './Message'

export default function ReceivedPage() {
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  const navigate = useNavigate()
  return (
    <>
      <PageHead title={<CopyableId id={id} />} up={{ to: '/received', name: 'Received' }} />
      <div className="min-h-0 flex-1 overflow-auto" tabIndex={-1}>
        <div className="max-w-[1008px]"><Message id={id} gone={() => void navigate({ to: '/received' })} /></div>
      </div>
    </>
  )
}
