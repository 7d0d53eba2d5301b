// Search parameters are plain text. TanStack's own serializer quotes values that look like numbers.
export const parseSearch = (text: string): Record<string, string> => Object.fromEntries(new URLSearchParams(text))

export function stringifySearch(search: Record<string, unknown>): string {
  const pairs = Object.entries(search).filter(([, v]) => v !== undefined && v !== null && v !== '').map(([k, v]) => [k, String(v)])
  const text = new URLSearchParams(pairs as [string, string][]).toString()
  return text ? `?${text}` : ''
}
