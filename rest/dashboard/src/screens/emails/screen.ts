import { Mail } from 'lucide-react'
import { screen } from '@/app/screen'

export default screen({
  routes: [
    { path: '/emails', title: 'Emails', load: () => import('./List') },
    { path: '/emails/$id', title: 'Email', load: () => import('./Page') },
  ],
  nav: { group: 'Mail', name: 'Emails', icon: Mail, to: '/emails', order: 1, shortcut: 'e', words: 'sent messages log' },
  module: 'sending',
  right: 'READ_SENT',
})
