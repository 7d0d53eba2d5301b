import { Globe } from 'lucide-react'
import { screen } from '@/app/screen'

export default screen({
  routes: [
    { path: '/domains', title: 'Domains', load: () => import('./List') },
    { path: '/domains/$id', title: 'Domain', load: () => import('./Page') },
  ],
  nav: { group: 'Deliver', name: 'Domains', icon: Globe, to: '/domains', order: 1, shortcut: 'd', words: 'dns dkim spf dmarc sending' },
  module: 'domains',
  right: 'READ',
})
