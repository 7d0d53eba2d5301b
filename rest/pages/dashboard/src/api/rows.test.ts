import { describe, expect, it } from 'vitest'
import { rowCounter } from './rows'

const encode = (text: string) => new TextEncoder().encode(text)

describe('rowCounter', () => {
  it('skips the CSV header and line breaks inside cells', () => {
    const count = rowCounter(true)
    expect(count(encode('id,subject\r\n'))).toBe(0)
    expect(count(encode('1,"two\r\nli'))).toBe(0)
    expect(count(encode('nes ""quoted""\n"\r\n2,x'))).toBe(1)
    expect(count(encode('\r\n'))).toBe(2)
  })
  it('counts lines of JSON', () => {
    const count = rowCounter(false)
    expect(count(encode('{"a":"\\""}\n{"a":'))).toBe(1)
    expect(count(encode('1}\n'))).toBe(2)
  })
})
