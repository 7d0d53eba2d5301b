import { ScrollText } from 'lucide-react'
import { screen } from '@/app/screen'

export default screen({
  routes: [{ path: '/audit-log', title: 'Audit log', load: () => import('./AuditLog') }],
  nav: { group: 'Account', name: 'Audit log', icon: ScrollText, to: '/audit-log', order: 3, words: 'who did what history changes security' },
  module: 'signin',
  right: 'TEAM',
})
