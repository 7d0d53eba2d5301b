import { store } from './store'

// AuthPrompt asks the user to sign in again or to confirm their identity, without leaving the page,
// so that unsaved input is kept.
export type AuthPrompt = { kind: 'sign-in' | 'confirm'; done: (retry: boolean) => void }

export const authPrompt = store<AuthPrompt | null>(null)

let pending: Promise<boolean> | null = null
let declinedAt = 0
const declineCooldown = 30_000 // ms after the user dismisses a prompt, during which background requests do not prompt

// appShown reports whether a page is shown. Leaving it would lose unsaved input.
export const appShown = store(false)

// promptForAuth shows the prompt and reports whether to retry the request. Requests in the background
// do not prompt again soon after the user dismissed a prompt.
export function promptForAuth(kind: AuthPrompt['kind'], inBackground = false): Promise<boolean> {
  if (inBackground && !pending && Date.now() - declinedAt < declineCooldown) return Promise.resolve(false)
  pending ??= new Promise<boolean>((resolve) => {
    authPrompt.set({
      kind,
      done(retry) {
        authPrompt.set(null)
        pending = null
        declinedAt = retry ? 0 : Date.now()
        resolve(retry)
      },
    })
  })
  return pending
}

// redirectToSignIn opens the sign-in page, which returns to the current page.
export function redirectToSignIn() {
  const here = location.pathname + location.search
  location.assign(here === '/' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(here)}`)
}
