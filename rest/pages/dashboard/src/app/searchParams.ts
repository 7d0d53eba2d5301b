import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'

type Values = Record<string, string | undefined>

// useSearchParams returns state that is kept in the URL, so that links can be shared.
export function useSearchParams(): [Record<string, string>, (change: Values, push?: boolean) => void] {
  const search = useSearch({ strict: false }) as Record<string, string>
  const navigate = useNavigate()
  const change = useCallback(
    (values: Values, push = false) =>
      void navigate({ to: '.', search: ((old: Values) => Object.fromEntries(Object.entries({ ...old, ...values }).filter(([, v]) => v))) as never, replace: !push }),
    [navigate],
  )
  return [search, change]
}
