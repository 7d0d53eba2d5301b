import { useParams } from '@tanstack/react-router'
import { useGraphQL } from '@/api/graphql'
import { PageBody, PageHead } from '@/parts/Page'
import { CustomEventDetail } from './events.gen'
import { EventView } from './EventView'

export default function EventPage() {
  const { id } = useParams({ strict: false }) as { id: string }
  const read = useGraphQL(CustomEventDetail, { id })
  return (
    <>
      <PageHead up={{ to: '/events', name: 'Events' }} title={read.data?.customEvent ? <code>{read.data.customEvent.name}</code> : 'Event'} />
      <PageBody narrow><EventView id={id} /></PageBody>
    </>
  )
}
