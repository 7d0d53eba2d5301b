import { Mailbox } from 'lucide-react'
import { screen } from '@/app/screen'

export default screen({
  routes: [{ path: '/inbox', title: 'Development inbox', load: () => import('./Inbox') }],
  nav: { group: 'Developers', name: 'Development inbox', icon: Mailbox, to: '/inbox', order: 1, shortcut: 'i', words: 'caught mail sandbox sms bounce test webhook receiver' },
  module: 'devinbox',
})
