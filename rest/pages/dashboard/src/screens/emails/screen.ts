import { Mail } from 'lucide-react'
import { defineScreen } from '@/app/screen'

export default defineScreen({
  routes: [
    { path: '/emails', title: 'Emails', load: () => import('./List') },
    { path: '/emails/$id', title: 'Email', load: () => import('./Page') },
  ],
  nav: { group: 'Email', name: 'Emails', icon: Mail, to: '/emails', order: 1, shortcut: 'e', keywords: 'sent messages log' },
  module: 'sending',
  right: 'READ_SENT',
  test: 'too',
})
