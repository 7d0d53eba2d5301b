import { expect, it } from 'vitest'
import { idsIn, threadOf, wordsOf, type Letter } from './thread'

const letter = (id: string, at: number, answers: string[] = []): Letter => ({ id, sent: false, who: 'bob', subject: 'x', at: new Date(at * 1000).toISOString(), messageId: `${id}@x`, answers })

it('finds what names an email, what it names, and what those name', () => {
  const [first, reply, again, other] = [letter('first', 1), letter('reply', 2, ['first@x']), letter('again', 3, ['reply@x']), letter('other', 4, ['elsewhere@x'])]
  expect(threadOf(reply, [again, other, first]).map((l) => l.id)).toEqual(['first', 'reply', 'again'])
  expect(threadOf(first, [again, other, reply]).map((l) => l.id)).toEqual(['first', 'reply', 'again'])
})

it('joins two answers to an email that is not there, and nothing that has no id', () => {
  const nameless = { ...letter('nameless', 1), messageId: '' }
  expect(threadOf(letter('a', 1, ['gone@x']), [letter('b', 2, ['gone@x']), nameless]).map((l) => l.id)).toEqual(['a', 'b'])
  expect(threadOf(nameless, [{ ...letter('c', 2), messageId: '' }]).map((l) => l.id)).toEqual(['nameless'])
})

it('looks for the words of a subject without what mail programs put before it', () => {
  expect(wordsOf('Re: AW: Re[2]: Your order #42: "ready" is:late')).toBe('Your order 42 ready is late')
  expect(wordsOf('Re:')).toBe('')
})

it('reads ids out of header fields', () => {
  expect(idsIn('<a@x>\r\n <b@y> c@z')).toEqual(['a@x', 'b@y'])
})
