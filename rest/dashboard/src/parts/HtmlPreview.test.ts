// @vitest-environment happy-dom
import { expect, test } from 'vitest'
import { clean } from './HtmlPreview'

test('pictures from elsewhere are counted, and gone until asked for', () => {
  const html = '<p>Hi</p><img src="https://a.example/x.png"><img src="data:image/gif;base64,R0lGOD"><td background="//b.example/y.png">'
  const blocked = clean(html)
  expect(blocked.remote).toBeGreaterThanOrEqual(1)
  expect(blocked.html).not.toContain('a.example')
  expect(blocked.html).toContain('data:image/gif')
  expect(clean(html, true).html).toContain('https://a.example/x.png')
})

test('what reaches the network past a policy is gone', () => {
  const { html } = clean('<link rel="dns-prefetch" href="//evil.example"><base href="https://evil.example/"><meta http-equiv="refresh" content="0;url=https://evil.example"><iframe src="https://evil.example"></iframe><script>alert(1)</script><p>Hi</p>')
  expect(html).not.toContain('evil.example')
  expect(html).not.toContain('alert')
  expect(html).toContain('<p>Hi</p>')
})
