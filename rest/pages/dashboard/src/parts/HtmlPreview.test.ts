import { expect, test } from 'vitest'
import { countRemoteContent, hasDarkStyles } from './HtmlPreview'

test('counts remote content', () => {
  expect(countRemoteContent('<img src="https://a.example/x.png"><td background=//b.example/y.png><p style="background: url(&quot;http://c.example/z.png)">')).toBe(3)
  expect(countRemoteContent('<video controls poster=\'http://a.example/p.png\'>')).toBe(1)
})

test('ignores embedded content and links', () => {
  expect(countRemoteContent('<img src="data:image/gif;base64,R0lGOD"><a href="https://a.example/">https://a.example</a><img src="cid:logo">')).toBe(0)
})

test('images of templates are not remote', () => {
  const own = 'https://mail.example.com'
  expect(countRemoteContent(`<img src="${own}/files/images/img_01kf0m4w7he6x8q2v5b3n9c1ta.png"><img src="${own}/other.png">`)).toBe(1)
})

test('knows emails that adapt to dark mode', () => {
  expect(['<style>@media (prefers-color-scheme: dark) {}</style>', '<meta name="color-scheme" content="light dark">', '<p style="color-scheme: light dark">', '<style>:root{color-scheme:light only}</style><p>dark</p>'].map(hasDarkStyles)).toEqual([true, true, true, false])
})
