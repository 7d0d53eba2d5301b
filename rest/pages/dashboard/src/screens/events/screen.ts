import { Zap } from 'lucide-react'
import { defineScreen } from '@/app/screen'

export default defineScreen({
  routes: [
    { path: '/events', title: 'Events', load: () => import('./Events') },
    { path: '/events/$id', title: 'Event', load: () => import('./EventPage') },
  ],
  nav: { group: 'Build', name: 'Events', icon: Zap, to: '/events', order: 3, shortcut: 'v', keywords: 'custom events trigger stream' },
  module: 'automations',
  right: 'READ_SENT',
  test: 'too',
})
