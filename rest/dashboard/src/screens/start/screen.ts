import { House } from 'lucide-react'
import { screen } from '@/app/screen'

export default screen({
  routes: [{ path: '/', title: 'Start', load: () => import('./Start') }],
  nav: { group: '', name: 'Start', icon: House, to: '/', order: 1, shortcut: 's' },
})
