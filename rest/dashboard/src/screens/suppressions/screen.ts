import { Ban } from 'lucide-react'
import { screen } from '@/app/screen'

export default screen({
  routes: [
    { path: '/suppressions', title: 'Suppressions', load: () => import('./Page') },
    { path: '/suppressions/$id', title: 'Suppression', load: () => import('./One') },
  ],
  nav: { group: 'Deliver', name: 'Suppressions', icon: Ban, to: '/suppressions', order: 2, shortcut: 'u', words: 'blocked bounces complaints unsubscribed opt-outs' },
  module: 'suppression',
  right: 'READ',
})
