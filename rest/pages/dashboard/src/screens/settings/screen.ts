import { SlidersHorizontal } from 'lucide-react'
import { defineScreen } from '@/app/screen'

// The sidebar links to /settings/account, because /settings is also the prefix of other paths.
export default defineScreen({
  routes: [
    { path: '/settings', title: 'Settings', load: () => import('./Settings') },
    { path: '/settings/account', title: 'Settings', load: () => import('./Settings') },
  ],
  nav: { group: 'Account', name: 'Settings', icon: SlidersHorizontal, to: '/settings/account', order: 6, keywords: 'account name retention second factor brand logo unsubscribe page' },
  module: 'accounts',
  right: 'READ_ACCOUNT',
})
