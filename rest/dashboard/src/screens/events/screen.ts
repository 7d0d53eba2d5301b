import { Zap } from 'lucide-react'
import { screen } from '@/app/screen'

export default screen({
  routes: [
    { path: '/events', title: 'Events', load: () => import('./Events') },
    { path: '/events/$id', title: 'Event', load: () => import('./EventPage') },
  ],
  nav: { group: 'Build', name: 'Events', icon: Zap, to: '/events', order: 3, shortcut: 'v', words: 'custom events trigger stream' },
  module: 'automations',
  right: 'READ_SENT',
})
