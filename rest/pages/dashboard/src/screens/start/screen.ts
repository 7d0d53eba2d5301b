import { House } from 'lucide-react'
import { defineScreen } from '@/app/screen'

export default defineScreen({
  routes: [{ path: '/', title: 'Start', load: () => import('./Start') }],
  nav: { group: '', name: 'Start', icon: House, to: '/', order: 1, shortcut: 's' },
})
