import { describe, expect, it } from 'vitest'
import { rowCounter } from './rows'

const octets = (text: string) => new TextEncoder().encode(text)

describe('rows that are counted as they come', () => {
  it('are lines without the names, and not the breaks in a cell', () => {
    const count = rowCounter(true)
    expect(count(octets('id,subject\r\n'))).toBe(0)
    expect(count(octets('1,"two\r\nli'))).toBe(0)
    expect(count(octets('nes ""quoted""\n"\r\n2,x'))).toBe(1)
    expect(count(octets('\r\n'))).toBe(2)
  })
  it('are lines of JSON, whatever is quoted in them', () => {
    const count = rowCounter(false)
    expect(count(octets('{"a":"\\""}\n{"a":'))).toBe(1)
    expect(count(octets('1}\n'))).toBe(2)
  })
})
