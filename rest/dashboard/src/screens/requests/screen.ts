import { Logs } from 'lucide-react'
import { screen } from '@/app/screen'

export default screen({
  routes: [{ path: '/requests', title: 'API log', load: () => import('./ApiLog') }],
  nav: { group: 'Developers', name: 'API log', icon: Logs, to: '/requests', order: 5, words: 'requests errors status debug history' },
  module: 'apilog',
  right: 'READ',
})
