import { Gauge } from 'lucide-react'
import { defineScreen } from '@/app/screen'

export default defineScreen({
  routes: [{ path: '/settings/billing', title: 'Usage and billing', load: () => import('./Usage') }],
  nav: { group: 'Account', name: 'Usage and billing', icon: Gauge, to: '/settings/billing', order: 1, keywords: 'plan price invoice card payment upgrade limit quota cap' },
  module: 'accounts',
  right: 'READ_BILLING',
})
