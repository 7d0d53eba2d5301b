import { Globe } from 'lucide-react'
import { defineScreen } from '@/app/screen'

export default defineScreen({
  routes: [
    { path: '/domains', title: 'Domains', load: () => import('./List') },
    { path: '/domains/$id', title: 'Domain', load: () => import('./Page') },
  ],
  nav: { group: 'Deliver', name: 'Domains', icon: Globe, to: '/domains', order: 1, shortcut: 'd', keywords: 'dns dkim spf dmarc sending' },
  module: 'domains',
  right: 'READ',
  test: 'too',
})
