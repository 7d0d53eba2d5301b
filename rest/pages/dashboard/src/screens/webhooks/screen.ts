import { Webhook } from 'lucide-react'
import { defineScreen } from '@/app/screen'

export default defineScreen({
  routes: [
    { path: '/webhooks', title: 'Webhooks', load: () => import('./List') },
    { path: '/webhooks/$id', title: 'Webhook endpoint', load: () => import('./Page') },
  ],
  nav: { group: 'Developers', name: 'Webhooks', icon: Webhook, to: '/webhooks', order: 1, shortcut: 'w', keywords: 'endpoints deliveries callbacks' },
  module: 'webhooks',
  right: 'READ',
  test: 'too',
})
