// Search parameters are plain texts: TanStack's own serializer quotes what looks like a number.
export const parseSearch = (text: string): Record<string, string> => Object.fromEntries(new URLSearchParams(text))

export function stringifySearch(search: Record<string, unknown>): string {
  const pairs = Object.entries(search).filter(([, v]) => v !== undefined && v !== null && v !== '').map(([k, v]) => [k, String(v)])
  const text = new URLSearchParams(pairs as [string, string][]).toString()
  return text ? `?${text}` : ''
}
