import { wordsOf } from '@/api/failed'
import { store } from '@/api/store'

export interface Toast {
  id: number
  text: string
  bad?: boolean
  action?: { label: string; run: () => void }
}

export const toasts = store<Toast[]>([])
let count = 0

export const drop = (id: number) => toasts.set(toasts.get().filter((t) => t.id !== id))

function show(text: string, more: Omit<Toast, 'id' | 'text'>) {
  toasts.set([...toasts.get().slice(-2), { id: ++count, text, ...more }])
}

// toast says in a corner what came of something.
export const toast = {
  ok: (text: string, action?: Toast['action']) => show(text, { action }),
  failed: (error: unknown, action?: Toast['action']) => show(wordsOf(error), { bad: true, action }),
}
