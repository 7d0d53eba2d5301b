import { expect, test } from 'vitest'
import { elsewhere } from './HtmlPreview'

test('what lies elsewhere is counted', () => {
  expect(elsewhere('<img src="https://a.example/x.png"><td background=//b.example/y.png><p style="background: url(&quot;http://c.example/z.png)">')).toBe(3)
  expect(elsewhere('<video controls poster=\'http://a.example/p.png\'>')).toBe(1)
})

test('what the email brings itself, or only names, is not', () => {
  expect(elsewhere('<img src="data:image/gif;base64,R0lGOD"><a href="https://a.example/">https://a.example</a><img src="cid:logo">')).toBe(0)
})
