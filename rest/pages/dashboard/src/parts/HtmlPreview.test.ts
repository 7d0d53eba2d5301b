import { expect, test } from 'vitest'
import { countRemoteContent } from './HtmlPreview'

test('counts remote content', () => {
  expect(countRemoteContent('<img src="https://a.example/x.png"><td background=//b.example/y.png><p style="background: url(&quot;http://c.example/z.png)">')).toBe(3)
  expect(countRemoteContent('<video controls poster=\'http://a.example/p.png\'>')).toBe(1)
})

test('ignores embedded content and links', () => {
  expect(countRemoteContent('<img src="data:image/gif;base64,R0lGOD"><a href="https://a.example/">https://a.example</a><img src="cid:logo">')).toBe(0)
})
