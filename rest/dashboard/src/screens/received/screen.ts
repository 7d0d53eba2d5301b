import { Inbox } from 'lucide-react'
import { screen } from '@/app/screen'

export default screen({
  routes: [
    { path: '/received', title: 'Received', load: () => import('./ReceivedList') },
    { path: '/received/rules', title: 'Address rules', load: () => import('./Rules') },
    { path: '/received/$id', title: 'Received email', load: () => import('./ReceivedPage') },
  ],
  nav: { group: 'Mail', name: 'Received', icon: Inbox, to: '/received', order: 4, shortcut: 'r', words: 'inbound incoming reply address rules' },
  module: 'inbound',
  right: 'READ',
})
