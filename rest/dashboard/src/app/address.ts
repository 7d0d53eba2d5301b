import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'

type Values = Record<string, string | undefined>

// useAddress is the state that stands in the URL, so that a link shows the same to a colleague.
export function useAddress(): [Record<string, string>, (change: Values, push?: boolean) => void] {
  const search = useSearch({ strict: false }) as Record<string, string>
  const navigate = useNavigate()
  const change = useCallback(
    (values: Values, push = false) =>
      void navigate({ to: '.', search: ((old: Values) => Object.fromEntries(Object.entries({ ...old, ...values }).filter(([, v]) => v))) as never, replace: !push }),
    [navigate],
  )
  return [search, change]
}
