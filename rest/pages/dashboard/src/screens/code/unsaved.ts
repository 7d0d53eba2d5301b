import { useBlocker } from '@tanstack/react-router'
import { useCallback, useEffect, useState } from 'react'

const keep = (key: string) => `unsaved ${key}`

function read<T>(key: string): T | null {
  try {
    return JSON.parse(sessionStorage.getItem(keep(key)) ?? 'null') as T | null
  } catch {
    return null
  }
}

// useUnsaved holds unsaved input. It survives a failed request, a lost session and a
// reload of this tab, and asks before the user leaves the page. Input that can contain secrets is `private`
// and is not stored.
export function useUnsaved<T>(key: string, { private: hidden = false } = {}) {
  const [value, setValue] = useState<T | null>(() => (hidden ? null : read<T>(key)))
  const [restored, setRestored] = useState(value !== null)
  const set = useCallback(
    (next: T | null) => {
      setValue(next)
      if (hidden) return
      try {
        if (next === null) sessionStorage.removeItem(keep(key))
        else sessionStorage.setItem(keep(key), JSON.stringify(next))
      } catch {
        // the storage is full or disabled: the page still has the input
      }
      if (next === null) setRestored(false)
    },
    [key, hidden],
  )
  const dirty = value !== null
  useEffect(() => {
    if (!dirty) return
    const stay = (e: BeforeUnloadEvent) => e.preventDefault()
    addEventListener('beforeunload', stay)
    return () => removeEventListener('beforeunload', stay)
  }, [dirty])
  const leaving = useBlocker({ shouldBlockFn: ({ current, next }) => dirty && current.pathname !== next.pathname, withResolver: true, enableBeforeUnload: false })
  return { value, set, restored, leaving }
}

export type Leaving = ReturnType<typeof useUnsaved>['leaving']

// useSaveKey saves on Ctrl S or Cmd S.
export function useSaveKey(save: () => void) {
  useEffect(() => {
    const press = (e: KeyboardEvent) => {
      if (e.key !== 's' || !(e.ctrlKey || e.metaKey) || e.altKey) return
      e.preventDefault()
      save()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [save])
}
