import { useNavigate, useParams } from '@tanstack/react-router'
import { PageBody, PageHead } from '@/parts/Page'
import { SuppressionView } from './View'

export default function One() {
  const { id } = useParams({ strict: false }) as { id: string }
  const navigate = useNavigate()
  return (
    <>
      <PageHead title="Suppression" up={{ to: '/suppressions', name: 'Suppressions' }} />
      <PageBody narrow><SuppressionView key={id} id={id} removed={() => void navigate({ to: '/suppressions' })} /></PageBody>
    </>
  )
}
