import { Users } from 'lucide-react'
import { screen } from '@/app/screen'

export default screen({
  routes: [{ path: '/team', title: 'Team', load: () => import('./Team') }],
  nav: { group: 'Account', name: 'Team', icon: Users, to: '/team', order: 2, words: 'members people roles invitations invite' },
  module: 'signin',
  right: 'READ',
})
