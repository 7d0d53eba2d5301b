import { store } from './store'

// door is what the service asks of the person before it goes on: to sign in again, or to confirm
// that it is still them. What was typed stays on the page meanwhile.
export type Ask = { what: 'sign-in' | 'confirm'; done: (again: boolean) => void }

export const door = store<Ask | null>(null)

let waiting: Promise<boolean> | null = null

// ask shows the dialog and tells whether to try again.
export function ask(what: Ask['what']): Promise<boolean> {
  waiting ??= new Promise<boolean>((resolve) => {
    door.set({
      what,
      done(again) {
        door.set(null)
        waiting = null
        resolve(again)
      },
    })
  })
  return waiting
}

// leaveForSignIn goes to the sign-in page, which leads back to where the person is now.
export function leaveForSignIn() {
  const here = location.pathname + location.search
  location.assign(here === '/' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(here)}`)
}
