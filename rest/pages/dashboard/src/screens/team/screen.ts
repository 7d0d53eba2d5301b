import { Users } from 'lucide-react'
import { defineScreen } from '@/app/screen'

export default defineScreen({
  routes: [{ path: '/team', title: 'Team', load: () => import('./Team') }],
  nav: { group: 'Account', name: 'Team', icon: Users, to: '/team', order: 2, keywords: 'members people roles invitations invite' },
  module: 'signin',
  right: 'READ',
})
