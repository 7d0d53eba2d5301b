import { FlaskConical } from 'lucide-react'
import { defineScreen } from '@/app/screen'

export default defineScreen({
  routes: [{ path: '/test-inbox', title: 'Test inbox', load: () => import('./TestInbox') }],
  nav: { group: 'Email', name: 'Test inbox', icon: FlaskConical, to: '/test-inbox', order: 0, keywords: 'captured mail sandbox end-to-end' },
  module: 'testmode',
  right: 'READ_SENT',
  test: 'only',
})
