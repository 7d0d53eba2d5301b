import { SquareTerminal } from 'lucide-react'
import { screen } from '@/app/screen'

export default screen({
  routes: [{ path: '/playground', title: 'Playground', load: () => import('./Playground') }],
  nav: { group: 'Developers', name: 'Playground', icon: SquareTerminal, to: '/playground', order: 8, words: 'graphql editor query api reference explorer' },
  right: 'READ',
})
