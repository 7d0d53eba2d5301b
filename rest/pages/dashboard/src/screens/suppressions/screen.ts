import { Ban } from 'lucide-react'
import { defineScreen } from '@/app/screen'

export default defineScreen({
  routes: [
    { path: '/suppressions', title: 'Suppressions', load: () => import('./Page') },
    { path: '/suppressions/$id', title: 'Suppression', load: () => import('./One') },
  ],
  nav: { group: 'Deliver', name: 'Suppressions', icon: Ban, to: '/suppressions', order: 2, shortcut: 'u', keywords: 'blocked bounces complaints unsubscribed opt-outs' },
  module: 'suppression',
  right: 'READ',
  test: 'too',
})
