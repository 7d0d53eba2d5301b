import { ScrollText } from 'lucide-react'
import { defineScreen } from '@/app/screen'

export default defineScreen({
  routes: [{ path: '/audit-log', title: 'Audit log', load: () => import('./AuditLog') }],
  nav: { group: 'Account', name: 'Audit log', icon: ScrollText, to: '/audit-log', order: 3, keywords: 'who did what history changes security' },
  module: 'signin',
  right: 'TEAM',
})
