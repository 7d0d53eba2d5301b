import { KeyRound } from 'lucide-react'
import { defineScreen } from '@/app/screen'

export default defineScreen({
  routes: [
    { path: '/keys', title: 'API keys', load: () => import('./Page') },
    { path: '/keys/$id', title: 'API key', load: () => import('./KeyPage') },
  ],
  nav: { group: 'Developers', name: 'API keys', icon: KeyRound, to: '/keys', order: 2, shortcut: 'k', keywords: 'smtp credentials tokens secrets relay' },
  module: 'accounts',
  right: 'WRITE',
})
