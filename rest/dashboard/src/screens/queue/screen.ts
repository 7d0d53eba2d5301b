import { Hourglass } from 'lucide-react'
import { screen } from '@/app/screen'

export default screen({
  routes: [{ path: '/queue', title: 'Queue', load: () => import('./Queue') }],
  nav: { group: 'Mail', name: 'Queue', icon: Hourglass, to: '/queue', order: 3, shortcut: 'q', words: 'scheduled waiting retry hold release drop deferred' },
  module: 'sending',
  right: 'READ',
})
