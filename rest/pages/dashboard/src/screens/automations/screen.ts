import { Workflow } from 'lucide-react'
import { defineScreen } from '@/app/screen'

export default defineScreen({
  routes: [
    { path: '/automations', title: 'Automations', load: () => import('./Automations') },
    { path: '/automations/$id', title: 'Automation', load: () => import('./AutomationPage') },
    { path: '/automations/runs/$run', title: 'Run', load: () => import('./RunPage') },
  ],
  nav: { group: 'Build', name: 'Automations', icon: Workflow, to: '/automations', order: 2, shortcut: 'a', keywords: 'sequence steps runs workflow drip' },
  module: 'automations',
  right: 'READ',
  test: 'too',
})
