import { Webhook } from 'lucide-react'
import { screen } from '@/app/screen'

export default screen({
  routes: [
    { path: '/webhooks', title: 'Webhooks', load: () => import('./List') },
    { path: '/webhooks/$id', title: 'Webhook endpoint', load: () => import('./Page') },
  ],
  nav: { group: 'Developers', name: 'Webhooks', icon: Webhook, to: '/webhooks', order: 1, shortcut: 'w', words: 'endpoints deliveries callbacks' },
  module: 'webhooks',
  right: 'READ',
})
