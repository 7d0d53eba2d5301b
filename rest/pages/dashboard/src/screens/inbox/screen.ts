import { Mailbox } from 'lucide-react'
import { defineScreen } from '@/app/screen'

export default defineScreen({
  routes: [{ path: '/inbox', title: 'Development inbox', load: () => import('./Inbox') }],
  nav: { group: 'Developers', name: 'Development inbox', icon: Mailbox, to: '/inbox', order: 1, shortcut: 'i', keywords: 'caught mail sandbox sms bounce test webhook receiver' },
  module: 'devinbox',
})
