// @vitest-environment happy-dom
import { expect, test } from 'vitest'
import { check, links } from './check'

const mail = { html: '<html lang="en"><body><p>Hello</p></body></html>', text: 'Hello', subject: 'Hello', size: 100, headers: [] }
const whats = (more: Partial<typeof mail>) => check({ ...mail, ...more }).map((f) => f.what)

test('a plain mail is fine', () => {
  expect(whats({})).toEqual([])
  expect(whats({ html: '' })).toEqual([])
})

test('what clients do not show is named', () => {
  expect(whats({ html: '<html lang="en"><style>.a{display:flex}</style><script>1</script><form></form><svg></svg><p style="position:absolute;color:var(--x)">x</p></html>' }))
    .toEqual(['A script', 'A form', 'SVG inside the message', 'Flexbox', 'position', 'CSS variables'])
  expect(whats({ html: `<html lang="en"><img src="https://a.example/1.png"><img src="https://a.example/t/o/x" width="1">${'x'.repeat(110_000)}</html>`, text: '' })).toEqual(['A picture without alt', '108 kB of HTML', 'No text part'])
  expect(whats({ html: '<p>Hello {{ name }}</p>', subject: '{{ order }} is there' })).toEqual(['No language', 'A gap that was not filled', 'A gap in the subject'])
})

test('links are judged without being followed', () => {
  const wrong = (html: string) => links(html).map((l) => l.wrong)
  expect(wrong('<a href="https://shop.example/x">Order</a><a href="mailto:a@b.example">Write</a>')).toEqual(['', ''])
  expect(wrong('<a href="#">x</a><a href="/orders">x</a><a href="javascript:1">x</a>').map((w) => w.split(':')[0])).toEqual(['It leads nowhere.', 'It is not absolute', 'Clients do not follow javascript'])
  expect(wrong('<a href="http://shop.example">x</a><a href="http://localhost:3000/x">x</a><a href="https://evil.example">https://bank.example</a><a href="https://a.example/{{id}}">x</a><a href="https://a.example"></a>'))
    .toEqual(['It is not encrypted: https is expected.', 'It leads to this machine or its network, where nobody else comes.', 'Its text says bank.example, which filters take for a fraud.', 'A gap in it was not filled.', 'It has no text: screen readers say nothing.'])
})
