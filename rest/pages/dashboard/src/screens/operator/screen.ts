import { ServerCog } from 'lucide-react'
import { defineScreen } from '@/app/screen'

export default defineScreen({
  routes: [
    { path: '/operator', title: 'Installation', load: () => import('./Operator') },
    { path: '/operator/accounts/$id', title: 'Account', load: () => import('./AccountPage') },
  ],
  nav: { group: 'Operator', name: 'Installation', icon: ServerCog, to: '/operator', order: 1, shortcut: 'o', keywords: 'accounts users operator keys plans payments health suspend queue sources warm-up lanes processes version' },
  operator: true,
})
