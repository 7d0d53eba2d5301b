import { useRef, useSyncExternalStore } from 'react'

// useSyncExternalStoreWithSelector replaces the package of that name, which also contains an
// implementation for old versions of React.
export function useSyncExternalStoreWithSelector<Snapshot, Selection>(
  subscribe: (changed: () => void) => () => void, get: () => Snapshot, _server: (() => Snapshot) | null | undefined, select: (s: Snapshot) => Selection, same?: (a: Selection, b: Selection) => boolean,
): Selection {
  const last = useRef<{ snapshot: Snapshot; select: (s: Snapshot) => Selection; selection: Selection } | null>(null)
  return useSyncExternalStore(subscribe, () => {
    const snapshot = get()
    const old = last.current
    if (old && Object.is(old.snapshot, snapshot) && old.select === select) return old.selection
    let selection = select(snapshot)
    if (old && (same ?? Object.is)(old.selection, selection)) selection = old.selection
    last.current = { snapshot, select, selection }
    return selection
  })
}

// zustand, which the canvas uses, imports the default export.
export default { useSyncExternalStoreWithSelector }
