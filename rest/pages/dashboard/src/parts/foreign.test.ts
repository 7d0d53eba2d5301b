import { expect, it } from 'vitest'
import { showInvisible } from './ForeignText'
import { domainToUnicode } from './idn'

it('shows characters that hide or reorder text', () => {
  expect(showInvisible('invoice\u202efdp.exe')).toBe('invoice⟨U+202E⟩fdp.exe')
  expect(showInvisible('a\u0000b\tc')).toBe('a⟨U+0000⟩b c')
  expect(showInvisible('👩\u200d💻')).toBe('👩\u200d💻')
})

it('decodes internationalized domain names', () => {
  expect(domainToUnicode('xn--bcher-kva.example')).toBe('bücher.example')
  expect(domainToUnicode('mail.xn--fiqs8s')).toBe('mail.中国')
  expect(domainToUnicode('xn--r8jz45g.xn--zckzah')).toBe('例え.テスト')
  expect(domainToUnicode('example.com')).toBe('example.com')
  expect(domainToUnicode('xn--ü.example')).toBe('xn--ü.example')
})
