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
    .toEqual(['A script', 'A form', 'Inline SVG', 'Flexbox', 'position', 'CSS variables'])
  expect(whats({ html: `<html lang="en"><img src="https://a.example/1.png"><img src="https://a.example/t/o/x" width="1">${'x'.repeat(110_000)}</html>`, text: '' })).toEqual(['An image without alt text', '108 kB of HTML', 'No text part'])
  expect(whats({ html: '<p>Hello {{ name }}</p>', subject: '{{ order }} is there' })).toEqual(['No language', 'An unfilled variable', 'An unfilled variable in the subject'])
})

test('links are judged without being followed', () => {
  const wrong = (html: string) => links(html).map((l) => l.wrong)
  expect(wrong('<a href="https://shop.example/x">Order</a><a href="mailto:a@b.example">Write</a>')).toEqual(['', ''])
  expect(wrong('<a href="#">x</a><a href="/orders">x</a><a href="javascript:1">x</a>').map((w) => w.split(':')[0])).toEqual(['Has no target.', 'Not an absolute URL. Relative links don’t work in emails.', 'Clients don’t open javascript'])
  expect(wrong('<a href="http://shop.example">x</a><a href="http://localhost:3000/x">x</a><a href="https://evil.example">https://bank.example</a><a href="https://a.example/{{id}}">x</a><a href="https://a.example"></a>'))
    .toEqual(['Not encrypted. Use https.', 'Points to this machine or its network, which recipients can’t reach.', 'The link text says bank.example, which spam filters treat as phishing.', 'Contains an unfilled variable.', 'Has no text, so screen readers can’t announce it.'])
})
