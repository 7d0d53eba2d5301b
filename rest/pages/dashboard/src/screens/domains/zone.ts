import { useQuery } from '@tanstack/react-query'
import { testMode } from '@/api/mode'
import { unwrap, rest } from '@/api/rest'

// useProvider detects the DNS provider of the domain's zone, in live mode only.
export function useProvider(id: string) {
  return useQuery({
    queryKey: ['DomainProvider', id],
    queryFn: () => unwrap(rest.GET('/domains/{id}/dns-provider', { params: { path: { id } } })).then((a) => a.provider),
    staleTime: 600_000,
    retry: false,
    enabled: !testMode,
  })
}

export async function readZoneFile(id: string): Promise<string> {
  return String(await unwrap(rest.GET('/domains/{id}/zone-file', { params: { path: { id } }, parseAs: 'text' })))
}

export async function saveZoneFile({ id, name }: { id: string; name: string }) {
  const url = URL.createObjectURL(new Blob([await readZoneFile(id)], { type: 'text/plain' }))
  const link = document.createElement('a')
  link.href = url
  link.download = `${name}.zone`
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
