// domainToUnicode decodes the labels of an internationalized domain name (RFC 3492). Invalid labels stay as they are.
export const domainToUnicode = (domain: string) => domain.split('.').map((l) => (l.startsWith('xn--') ? (decodeLabel(l.slice(4)) ?? l) : l)).join('.')

const [base, most] = [36, 0x7fffffff]

function decodeLabel(text: string): string | undefined {
  const at = text.lastIndexOf('-')
  const out = at > 0 ? Array.from(text.slice(0, at), (c) => c.charCodeAt(0)) : []
  let [code, index, bias] = [128, 0, 72]
  for (let i = at > 0 ? at + 1 : 0; i < text.length; ) {
    const before = index
    for (let weight = 1, k = base; ; k += base) {
      const c = text.charCodeAt(i++)
      const digit = c >= 97 && c <= 122 ? c - 97 : c >= 48 && c <= 57 ? c - 22 : base
      if (digit >= base || digit > (most - index) / weight) return undefined
      index += digit * weight
      const threshold = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias
      if (digit < threshold) break
      weight *= base - threshold
    }
    const size = out.length + 1
    let delta = before === 0 ? Math.floor((index - before) / 700) : (index - before) >> 1
    delta += Math.floor(delta / size)
    let k = 0
    for (; delta > 455; k += base) delta = Math.floor(delta / 35)
    bias = k + Math.floor((36 * delta) / (delta + 38))
    code += Math.floor(index / size)
    index %= size
    if (code > 0x10ffff) return undefined
    out.splice(index++, 0, code)
  }
  return String.fromCodePoint(...out)
}
