import { ChartColumn } from 'lucide-react'
import { screen } from '@/app/screen'

export default screen({
  routes: [{ path: '/statistics', title: 'Statistics', load: () => import('./Statistics') }],
  nav: { group: 'Mail', name: 'Statistics', icon: ChartColumn, to: '/statistics', order: 6, words: 'figures deliverability bounces complaints opens clicks latency chart rates' },
  module: ['statistics', 'sending'],
  right: 'READ_SENT',
})
