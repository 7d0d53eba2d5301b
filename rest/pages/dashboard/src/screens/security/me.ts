import { useQuery, useQueryClient } from '@tanstack/react-query'
import { unwrap, rest } from '@/api/rest'

// A person's own data, such as factors and sessions, is available over REST only.
export const useMe = () => useQuery({ queryKey: ['me'], queryFn: () => unwrap(rest.GET('/session')).then((s) => s.user) })
export const useSessions = () => useQuery({ queryKey: ['my-sessions'], queryFn: () => unwrap(rest.GET('/sessions')).then((s) => s.sessions) })
export const usePasskeys = () => useQuery({ queryKey: ['my-passkeys'], queryFn: () => unwrap(rest.GET('/user/passkeys')).then((s) => s.passkeys) })

// useAgain fetches this data again.
export function useAgain() {
  const client = useQueryClient()
  return () => Promise.all([['me'], ['my-sessions'], ['my-passkeys'], ['viewer']].map((queryKey) => client.invalidateQueries({ queryKey })))
}
