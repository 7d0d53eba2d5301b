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

const place = 'return-to'
const remembered = 30 * 60_000 // ms

// leaveForSignIn goes to the sign-in page. Whoever then comes to the start in this tab goes on to where
// they were.
export function leaveForSignIn() {
  const here = location.pathname + location.search
  if (here !== '/') sessionStorage.setItem(place, `${Date.now()} ${here}`)
  location.assign(here === '/' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(here)}`)
}

// returnPath is where the person wanted to go before they had to sign in; it is asked once.
export function returnPath(): string | null {
  const [, at = '', path = ''] = /^(\d+) (\/(?![/\\]).*)$/.exec(sessionStorage.getItem(place) ?? '') ?? []
  if (location.pathname !== '/') return null
  sessionStorage.removeItem(place)
  return path && Date.now() - Number(at) < remembered ? path : null
}
