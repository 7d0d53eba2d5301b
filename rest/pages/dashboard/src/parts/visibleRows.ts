import { useLayoutEffect, useState } from 'react'
import { flushSync } from 'react-dom'

const extra = 12 // rows rendered above and below the visible ones
const step = 6 // rows by which the range moves, so that scrolling renders less often

interface Range { start: number; end: number }

// visibleRange returns the rows to render, of `count` rows of one height, for a scroll position. `end` is exclusive.
export function visibleRange(scrolled: number, visible: number, height: number, count: number): Range {
  const last = Math.max(0, count - Math.ceil(visible / height))
  const first = Math.min(Math.floor(scrolled / height / step) * step, last)
  const end = Math.ceil((scrolled + visible) / height / step) * step
  return { start: Math.max(0, first - extra), end: Math.min(count, Math.max(end, first) + extra) }
}

// useVisibleRows returns the range of rows to render in a scrolling box, and a function that scrolls to a row.
export function useVisibleRows(box: HTMLElement | null, height: number, count: number): Range & { reveal: (index: number) => void } {
  const [view, setView] = useState({ scrolled: 0, visible: window.innerHeight })
  const range = visibleRange(view.scrolled, view.visible, height, count)
  useLayoutEffect(() => {
    if (!box) return
    const read = () => ({ scrolled: Math.floor(box.scrollTop / (height * step)) * height * step, visible: box.clientHeight + height * step })
    const update = () => setView((old) => { const now = read(); return old.scrolled === now.scrolled && old.visible === now.visible ? old : now })
    const onScroll = () => flushSync(update) // before the browser shows the new position
    update()
    const sizes = new ResizeObserver(update)
    sizes.observe(box)
    box.addEventListener('scroll', onScroll, { passive: true })
    return () => {
      sizes.disconnect()
      box.removeEventListener('scroll', onScroll)
    }
  }, [box, height])
  const reveal = (index: number) => {
    const body = box?.querySelector('tbody')
    if (!box || !body) return
    const head = box.querySelector('thead')?.offsetHeight ?? 0 // it covers the rows below it
    const top = body.getBoundingClientRect().top - box.getBoundingClientRect().top + box.scrollTop + index * height
    if (top - head < box.scrollTop) box.scrollTop = top - head
    else if (top + height > box.scrollTop + box.clientHeight) box.scrollTop = top + height - box.clientHeight
  }
  return { ...range, reveal }
}
