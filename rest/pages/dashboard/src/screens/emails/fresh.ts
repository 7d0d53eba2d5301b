import { useQueryClient, type InfiniteData } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { query } from '@/api/graphql'
import { useLive } from '@/api/live'
import { EmailList, EmailRows, type EmailListQuery, type EmailLineFragment } from './queries.gen'
import { pageSize } from './List'

type Page = EmailListQuery['emails']

const pause = 700 // ms between two reads

// useFresh keeps a list up to date without moving it: rows that are shown change in place, new ones
// are counted and wait. key is the key of the list's query.
export function useFresh(q: string, rows: EmailLineFragment[], key: unknown[], order: 'newest' | 'oldest' | 'scheduled') {
  const queries = useQueryClient()
  const [count, setCount] = useState(0)
  const changed = useRef(new Set<string>())
  const begun = useRef(false)
  const last = useRef(0)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const latest = useRef({ q, rows })
  latest.current = { q, rows }

  useEffect(() => setCount(0), [q, order])
  useEffect(() => () => clearTimeout(timer.current), [])

  async function catchUp() {
    const { q, rows } = latest.current
    const ids = [...changed.current].slice(0, 20)
    ids.forEach((id) => changed.current.delete(id))
    const asked = key
    try {
      if (ids.length > 0) {
        const { nodes } = await query(EmailRows, { ids })
        const news = new Map(nodes.flatMap((n) => (n && 'id' in n ? [[n.id, n as EmailLineFragment] as const] : [])))
        queries.setQueryData<InfiniteData<Page>>(asked, (old) => old && { ...old, pages: old.pages.map((p) => ({ ...p, nodes: p.nodes.map((n) => news.get(n.id) ?? n) })) })
      }
      if (begun.current) {
        begun.current = false
        const page = await query(EmailList, { first: pageSize, q: q || null, after: null })
        const known = new Set(rows.map((r) => r.id))
        const older = page.emails.nodes.findIndex((n) => known.has(n.id))
        if (latest.current.q === q) setCount(older < 0 ? page.emails.nodes.length : older)
      }
    } catch {
      // the list does not change; the next event retries
    }
    timer.current = undefined
    if (changed.current.size > 0 || begun.current) later()
  }
  // The first event takes effect at once, and many events in a row are read together.
  function later() {
    const since = Date.now() - last.current
    timer.current ??= setTimeout(() => {
      last.current = Date.now()
      void catchUp()
    }, Math.max(50, pause - since))
  }

  useLive(['email.'], (e) => {
    const id = (e.data as { email_id?: string }).email_id
    if (!id || e.type === 'email.received') return
    if (latest.current.rows.some((r) => r.id === id)) changed.current.add(id)
    else if (order === 'newest' && (e.type === 'email.sent' || e.type === 'email.scheduled' || e.type === 'email.suppressed')) begun.current = true
    else if (order === 'scheduled' && e.type === 'email.scheduled') return setCount((n) => n + 1)
    else return
    later()
  })

  function show() {
    setCount(0)
    void queries.resetQueries({ queryKey: key })
  }
  return { count, show }
}
