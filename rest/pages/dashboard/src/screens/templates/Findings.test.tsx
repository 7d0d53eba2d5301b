// @vitest-environment happy-dom
import { act } from 'react'
import { createRoot } from 'react-dom/client'
import { expect, test } from 'vitest'
import { Findings, type Finding } from './Findings'

;(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true

async function show(findings: Finding[]) {
  const root = document.body.appendChild(document.createElement('div'))
  await act(async () => createRoot(root).render(<Findings findings={findings} />))
  return root
}

const shortener: Finding = {
  code: 'link_shortener', severity: 'warning', part: 'html', count: 12, reason: 'Filters distrust the host.', fix: 'Link to the target itself.',
  places: [{ line: 3, element: '<img src=x onerror=alert(1)>\u202e' }, { line: null, element: 'https://bit.ly/y' }],
}

test('each finding has a severity, a reason, a fix and its places as text', async () => {
  const root = await show([shortener])
  expect(root.textContent).toContain('WarningFilters distrust the host.')
  expect(root.textContent).toContain('Link to the target itself.')
  expect(root.querySelector('summary')?.textContent).toBe('12 places')
  expect([...root.querySelectorAll('details li')].map((li) => li.textContent)).toEqual(['<img src=x onerror=alert(1)>⟨U+202E⟩', 'https://bit.ly/y', 'and 10 more'])
  expect(root.querySelector('img')).toBeNull()
})

test('an email without problems says so', async () => {
  const root = await show([])
  expect(root.querySelector('[role=status]')?.textContent).toBe('No problems found. Links aren’t opened.')
})
