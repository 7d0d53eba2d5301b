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

// useOpenParam keeps in the URL whether a dialog is open, so that links and the command palette can open it.
export function useOpenParam(name: string): [boolean, (open: boolean) => void] {
  const [params, change] = useSearchParams()
  return [Boolean(params[name]), (open) => change({ [name]: open ? '1' : undefined })]
}
