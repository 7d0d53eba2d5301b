import { Hourglass } from 'lucide-react'
import { defineScreen } from '@/app/screen'

export default defineScreen({
  routes: [{ path: '/queue', title: 'Queue', load: () => import('./Queue') }],
  nav: { group: 'Email', name: 'Queue', icon: Hourglass, to: '/queue', order: 3, shortcut: 'q', keywords: 'scheduled waiting retry hold release drop deferred' },
  module: 'sending',
  right: 'READ',
  test: 'too',
})
