import { ChartColumn } from 'lucide-react'
import { defineScreen } from '@/app/screen'

export default defineScreen({
  routes: [{ path: '/statistics', title: 'Statistics', load: () => import('./Statistics') }],
  nav: { group: 'Email', name: 'Statistics', icon: ChartColumn, to: '/statistics', order: 6, keywords: 'figures deliverability bounces complaints opens clicks latency chart rates' },
  module: ['statistics', 'sending'],
  right: 'READ_SENT',
  test: 'too',
})
