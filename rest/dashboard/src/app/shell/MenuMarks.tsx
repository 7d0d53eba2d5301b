import { useLocation } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useGraph } from '@/api/graphql'
import { countedByEntry } from './marks'
import { Marks } from './marks.gen'
import { menuMarks } from './state'

const stale = 15_000

// MenuMarks asks what needs attention: every five minutes while the page is looked at, and when another page
// is gone to. The menu shows it.
export default function MenuMarks() {
  const { data, dataUpdatedAt, isFetching, refetch } = useGraph(Marks, {}, { refetchInterval: 300_000 })
  const { pathname } = useLocation()
  useEffect(() => { if (data) menuMarks.set(countedByEntry(data.health.findings)) }, [data])
  useEffect(() => {
    if (data && !isFetching && Date.now() - dataUpdatedAt > stale) void refetch()
  }, [pathname]) // a page that is gone to, not an answer that has come
  return null
}
