import { Inbox } from 'lucide-react'
import { defineScreen } from '@/app/screen'

export default defineScreen({
  routes: [
    { path: '/received', title: 'Received', load: () => import('./ReceivedList') },
    { path: '/received/rules', title: 'Address rules', load: () => import('./Rules') },
    { path: '/received/$id', title: 'Received email', load: () => import('./ReceivedPage') },
  ],
  nav: { group: 'Email', name: 'Received', icon: Inbox, to: '/received', order: 4, shortcut: 'r', keywords: 'inbound incoming reply address rules' },
  module: 'inbound',
  right: 'READ',
  test: 'too',
})
