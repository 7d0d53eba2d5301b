import { expect, it } from 'vitest'
import { rowsOf, textOfRows, wordsOfExpression } from './expression'
import { spanOf, textOfSpan, wordsOfSpan } from './duration'

it('reads what it writes', () => {
  for (const text of [
    'event.data.plan == "pro"', 'event.data.amount > 500 && has(event.data.phone)', 'event.data.a == true || event.data.b != 1.5', 'event.data.name.contains("a && b")',
    '!has(trigger.data.vip)', 'steps.hello.status in ["sent", "suppressed"]', 'event.email.startsWith("x\\"y")', 'event.data.code == "17"',
  ]) expect(textOfRows(rowsOf(text) ?? { all: true, rows: [] }), text).toBe(text)
  expect(rowsOf('event.data.code == "17"')?.rows[0]).toEqual({ left: 'event.data.code', sign: '==', right: '17', quoted: true })
  expect(rowsOf("event.data.plan == 'it\\'s'")?.rows[0]?.right).toBe("it's")
})

it('leaves alone what rows cannot say', () => {
  for (const text of ['a == 1 && b == 2 || c == 3', 'size(event.data.items) > 0', '!(a == 1)', 'event.data.a == trigger.data.a', '(a == 1)', 'a in []', 'x ? y : z', 'event.data.x == "\\d"']) expect(rowsOf(text), text).toBeNull()
})

it('leaves out rows that are not finished', () => {
  expect(textOfRows({ all: true, rows: [{ left: '', sign: '==', right: '1', quoted: false }, { left: 'event.data.x', sign: '>', right: '', quoted: false }, { left: 'event.data.y', sign: 'has', right: '', quoted: false }] })).toBe('has(event.data.y)')
})

it('says conditions in words', () => {
  expect(wordsOfExpression('event.data.amount > 500 && !has(event.data.phone)')).toBe('amount > 500 and phone is missing')
  expect(wordsOfExpression('size(event.data.items) > 0')).toBe('size(event.data.items) > 0')
})

it('reads and says spans of time', () => {
  for (const [text, n, unit] of [['P3D', 3, 'D'], ['PT30M', 30, 'M'], ['P2W', 2, 'W'], ['PT45S', 45, 'S']] as const) {
    expect(spanOf(text)).toEqual({ n, unit })
    expect(textOfSpan(n, unit)).toBe(text)
  }
  expect(spanOf('P1DT2H')).toBeNull()
  expect(['P1DT2H', '-PT1M', 'soon', 'PT1.5S'].map(wordsOfSpan)).toEqual(['1 day 2 hours', 'minus 1 minute', 'soon', '1.5 seconds'])
})
