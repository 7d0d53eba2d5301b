import { ShieldCheck } from 'lucide-react'
import { defineScreen } from '@/app/screen'

export default defineScreen({
  routes: [{ path: '/profile', title: 'Your profile', load: () => import('./Profile') }],
  nav: { group: 'Account', name: 'Your profile', icon: ShieldCheck, to: '/profile', order: 5, keywords: 'alerts notifications security password passkey authenticator second factor sessions sign out' },
  module: 'signin',
  right: 'PERSON',
  test: 'too',
})
