import { expect, test } from 'vitest'
import { countByNavItem } from './navAlerts'

test('counts errors and warnings by the screen of their subject', () => {
  const counts = countByNavItem([
    { level: 'ERROR', subjectId: 'dom_1' }, { level: 'WARNING', subjectId: 'dom_2' }, { level: 'NOTICE', subjectId: 'dom_3' },
    { level: 'WARNING', subjectId: 'wh_1' }, { level: 'ERROR', subjectId: null }, { level: 'ERROR', subjectId: 'key_1' },
  ])
  expect([...counts]).toEqual([['/domains', 2], ['/webhooks', 1]])
})
