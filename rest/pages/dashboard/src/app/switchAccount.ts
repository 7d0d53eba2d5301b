import { rest, unwrap } from '@/api/rest'
import { toast } from './toasts'

// switchAccount loads the first page of another account.
export async function switchAccount(accountId: string) {
  try {
    await unwrap(rest.POST('/session/account', { body: { account_id: accountId } }))
    location.assign('/')
  } catch (error) {
    toast.error(error)
  }
}
