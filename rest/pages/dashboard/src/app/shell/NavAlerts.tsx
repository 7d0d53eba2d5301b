import { useLocation } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useGraphQL } from '@/api/graphql'
import { countByNavItem } from './navAlerts'
import { Marks } from './alerts.gen'
import { navAlertCounts } from './state'

const staleAfter = 15_000

// NavAlerts fetches the number of problems that the navigation shows: every five minutes while the page
// is visible, and after navigation to another page.
export default function NavAlerts() {
  const { data, dataUpdatedAt, isFetching, refetch } = useGraphQL(Marks, {}, { refetchInterval: 300_000 })
  const { pathname } = useLocation()
  useEffect(() => { if (data) navAlertCounts.set(countByNavItem(data.health.findings)) }, [data])
  useEffect(() => {
    if (data && !isFetching && Date.now() - dataUpdatedAt > staleAfter) void refetch()
  }, [pathname]) // only after navigation, not after each response
  return null
}
