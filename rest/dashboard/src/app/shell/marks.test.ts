import { expect, test } from 'vitest'
import { countedByEntry } from './marks'

test('errors and warnings count where their subject is', () => {
  const counted = countedByEntry([
    { level: 'ERROR', subjectId: 'dom_1' }, { level: 'WARNING', subjectId: 'dom_2' }, { level: 'NOTICE', subjectId: 'dom_3' },
    { level: 'WARNING', subjectId: 'wh_1' }, { level: 'ERROR', subjectId: null }, { level: 'ERROR', subjectId: 'key_1' },
  ])
  expect([...counted]).toEqual([['/domains', 2], ['/webhooks', 1]])
})
