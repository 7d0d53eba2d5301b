// The positions of the members of a JSON text, by their paths as the server writes them: `steps[2].timeout`.

export interface Place {
  from: number
  to: number
}

export interface Read {
  places: Map<string, Place>
  // error is the position of a JSON syntax error.
  error?: Place & { message: string }
}

class Wrong extends Error {
  constructor(message: string, readonly at: number) {
    super(message)
  }
}

export function placesOf(text: string): Read {
  const places = new Map<string, Place>()
  let at = 0
  const blank = () => {
    while (/\s/.test(text[at] ?? '')) at++
  }
  const expect = (c: string) => {
    blank()
    if (text[at] !== c) throw new Wrong(at >= text.length ? `Text ends where ${c} is expected` : `Expected ${c}`, at)
    at++
  }
  const scalar = /"(?:[^"\\\n]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
  const take = (what: string) => {
    blank()
    scalar.lastIndex = at
    const m = scalar.exec(text)
    if (!m) throw new Wrong(`Expected ${what}`, at)
    at = scalar.lastIndex
    return m[0]
  }
  const list = (close: string, item: () => void) => {
    at++
    blank()
    if (text[at] === close) {
      at++
      return
    }
    for (;;) {
      item()
      blank()
      if (text[at] !== ',') break
      at++
    }
    expect(close)
  }
  function value(path: string) {
    blank()
    const from = at
    if (text[at] === '{') {
      list('}', () => {
        blank()
        if (text[at] !== '"') throw new Wrong('Expected a quoted name', at)
        const key = JSON.parse(take('a name')) as string
        expect(':')
        value(path ? `${path}.${key}` : key)
      })
    } else if (text[at] === '[') {
      let index = 0
      list(']', () => value(`${path}[${index++}]`))
    } else take('a value')
    places.set(path, { from, to: at })
  }
  try {
    value('')
    blank()
    if (at < text.length) throw new Wrong('Unexpected text after the end', at)
    JSON.parse(text)
    return { places }
  } catch (e) {
    const from = e instanceof Wrong ? Math.min(e.at, text.length) : 0
    const message = e instanceof Error ? e.message : 'Invalid JSON'
    return { places, error: { from: Math.max(0, Math.min(from, text.length - 1)), to: Math.min(from + 1, text.length), message } }
  }
}

// placeOf returns the position of a path, or of its nearest existing parent.
export function placeOf(places: Map<string, Place>, path: string): Place {
  for (let p = path; p; p = p.replace(/(\.[^.[\]]+|\[\d+\]|^[^.[\]]+)$/, '')) {
    const found = places.get(p)
    if (found) return p === path ? found : { from: found.from, to: found.from + 1 }
  }
  return { from: 0, to: 1 }
}

export function lineOf(text: string, at: number): number {
  return text.slice(0, at).split('\n').length
}
