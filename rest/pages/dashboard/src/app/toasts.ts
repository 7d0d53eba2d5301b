import { errorMessage } from '@/api/errors'
import { store } from '@/api/store'

export interface Toast {
  id: number
  text: string
  isError?: boolean
  action?: { label: string; run: () => void }
}

export const toasts = store<Toast[]>([])
let count = 0

export const dismissToast = (id: number) => toasts.set(toasts.get().filter((t) => t.id !== id))

function show(text: string, more: Omit<Toast, 'id' | 'text'>) {
  toasts.set([...toasts.get().slice(-2), { id: ++count, text, ...more }])
}

// toast shows the result of an action in a corner of the page.
export const toast = {
  success: (text: string, action?: Toast['action']) => show(text, { action }),
  error: (error: unknown, action?: Toast['action']) => show(errorMessage(error), { isError: true, action }),
}
