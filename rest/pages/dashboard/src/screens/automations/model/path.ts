// Members of a definition by their paths, as the server writes them: `steps[2].window.from`.

export const partsOf = (path: string): (string | number)[] => [...path.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map((m) => (m[1] === undefined ? m[0] : Number(m[1])))

export function getIn(value: unknown, path: string): unknown {
  return partsOf(path).reduce<unknown>((v, part) => (typeof v === 'object' && v !== null ? (v as Record<string | number, unknown>)[part] : undefined), value)
}

const nothing = (value: unknown) => value === undefined || value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)

// setIn returns a copy with another value at a path. Objects that become empty are left out, except elements of lists.
export function setIn<T>(value: T, path: string, next: unknown): T {
  const [first, ...rest] = partsOf(path)
  const put = (at: unknown, part: string | number, more: (string | number)[]): unknown => {
    const copy: Record<string | number, unknown> | unknown[] = Array.isArray(at) ? [...at] : typeof at === 'object' && at !== null ? { ...at } : typeof part === 'number' ? [] : {}
    const [head, ...tail] = more
    const made = head === undefined ? next : put((copy as Record<string | number, unknown>)[part], head, tail)
    if (nothing(made) && !Array.isArray(copy)) delete copy[part as string]
    else (copy as Record<string | number, unknown>)[part] = made
    return copy
  }
  return first === undefined ? (next as T) : (put(value, first, rest) as T)
}
