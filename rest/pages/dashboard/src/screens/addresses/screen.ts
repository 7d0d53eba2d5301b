import { defineScreen } from '@/app/screen'

export default defineScreen({
  routes: [{ path: '/addresses/$address', title: 'Address', load: () => import('./AddressPage') }],
  right: 'READ_SENT',
  test: 'too',
})
