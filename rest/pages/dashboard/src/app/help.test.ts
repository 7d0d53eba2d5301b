import { expect, test } from 'vitest'
import { helpFor } from './help'
import { navItemsOf, screens } from './registry'

test('every screen of the menu has a page of the manual', () => {
  const paths = screens.flatMap(navItemsOf).map((n) => n.to)
  expect(paths.length).toBeGreaterThan(15)
  expect(paths.filter((p) => helpFor(p) === '/manual/dashboard')).toEqual([])
})

test('a page of a record has the help of its screen', () => {
  expect(helpFor('/templates/tpl_1')).toBe('/manual/templates')
  expect(helpFor('/settings/billing')).toBe('/manual/plans')
  expect(helpFor('/elsewhere')).toBe('/manual/dashboard')
})
