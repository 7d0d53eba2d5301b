import { LayoutTemplate } from 'lucide-react'
import { defineScreen } from '@/app/screen'

export default defineScreen({
  routes: [
    { path: '/templates', title: 'Templates', load: () => import('./Templates') },
    { path: '/templates/$id', title: 'Template', load: () => import('./TemplatePage') },
  ],
  nav: { group: 'Build', name: 'Templates', icon: LayoutTemplate, to: '/templates', order: 1, shortcut: 't', keywords: 'html subject preview liquid publish' },
  module: 'templates',
  right: 'READ',
  test: 'too',
})
