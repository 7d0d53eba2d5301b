import { store } from './store'

// door is what the service asks of the person before it goes on: to sign in again, or to confirm
// that it is still them. What was typed stays on the page meanwhile.
export type Ask = { what: 'sign-in' | 'confirm'; done: (again: boolean) => void }

export const door = store<Ask | null>(null)

let waiting: Promise<boolean> | null = null
let declined = 0
const quiet = 30_000 // ms after a no in which nothing asks by itself

// inside tells whether a page stands there: what was typed on it would be lost by leaving.
export const inside = store(false)

// ask shows the dialog and tells whether to try again. What the page does `byItself` does not insist.
export function ask(what: Ask['what'], byItself = false): Promise<boolean> {
  if (byItself && !waiting && Date.now() - declined < quiet) return Promise.resolve(false)
  waiting ??= new Promise<boolean>((resolve) => {
    door.set({
      what,
      done(again) {
        door.set(null)
        waiting = null
        declined = again ? 0 : Date.now()
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
