import { KeyRound } from 'lucide-react'
import { screen } from '@/app/screen'

export default screen({
  routes: [{ path: '/keys', title: 'API keys', load: () => import('./Page') }],
  nav: { group: 'Developers', name: 'API keys', icon: KeyRound, to: '/keys', order: 2, shortcut: 'k', words: 'smtp credentials tokens secrets relay' },
  module: 'accounts',
  right: 'WRITE',
})
