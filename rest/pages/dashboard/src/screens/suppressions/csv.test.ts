import { describe, expect, it } from 'vitest'
import { toCSV } from '@/parts/file'
import { addressesOf } from './csv'

describe('addressesOf', () => {
  it('takes one address a line', () => {
    expect(addressesOf('a@example.com\r\n\r\nb@example.com')).toEqual([{ line: 1, address: 'a@example.com' }, { line: 3, address: 'b@example.com' }])
  })
  it('finds the column by its name, and the line after quoted breaks', () => {
    expect(addressesOf('\uFEFFname;Email\n"Ada;\n""L"""; a@example.com \nBob;b@example.com\n')).toEqual([{ line: 2, address: 'a@example.com' }, { line: 4, address: 'b@example.com' }])
  })
  it('takes the first with an @ where no column is called so', () => {
    expect(addressesOf('Ada,a@example.com\nBob,none')).toEqual([{ line: 1, address: 'a@example.com' }, { line: 2, address: 'Bob' }])
  })
  it('finds nothing in nothing', () => {
    expect(addressesOf(' \n')).toEqual([])
  })
})

it('csvOf escapes quotes and formulas', () => {
  expect(toCSV([['1', '=cmd()', 'say "no"']])).toBe('"1","\'=cmd()","say ""no"""\r\n')
})
