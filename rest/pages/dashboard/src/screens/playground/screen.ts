import { SquareTerminal } from 'lucide-react'
import { defineScreen } from '@/app/screen'

export default defineScreen({
  routes: [{ path: '/playground', title: 'Playground', load: () => import('./Playground') }],
  nav: { group: 'Developers', name: 'Playground', icon: SquareTerminal, to: '/playground', order: 8, keywords: 'graphql editor query api reference explorer' },
  right: 'READ',
})
