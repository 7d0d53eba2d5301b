import { Logs } from 'lucide-react'
import { defineScreen } from '@/app/screen'

export default defineScreen({
  routes: [{ path: '/requests', title: 'API log', load: () => import('./ApiLog') }],
  nav: { group: 'Developers', name: 'API log', icon: Logs, to: '/requests', order: 5, keywords: 'requests errors status debug history' },
  module: 'apilog',
  right: 'READ',
  test: 'too',
})
