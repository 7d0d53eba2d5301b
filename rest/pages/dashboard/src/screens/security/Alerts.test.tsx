// @vitest-environment happy-dom
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { act } from 'react'
import { createRoot } from 'react-dom/client'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

const server = vi.hoisted(() => ({ rights: ['WRITE', 'BILLING'], patched: [] as unknown[], refuse: null as Error | null }))
vi.mock('@/app/viewer', () => ({ useViewer: () => ({ can: (right: string) => server.rights.includes(right) }) }))
vi.mock('@/api/rest', () => ({
  unwrap: (p: Promise<unknown>) => p,
  rest: { PATCH: (path: string, { body }: { body: unknown }) => { server.patched.push({ path, body }); return server.refuse ? Promise.reject(server.refuse) : Promise.resolve({}) } },
}))

const { Alerts } = await import('./Alerts')
;(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true

let leave = () => {}
beforeEach(() => { server.rights = ['WRITE', 'BILLING']; server.patched = []; server.refuse = null })
afterEach(() => leave())

async function show() {
  const place = document.createElement('div')
  const root = createRoot(place)
  leave = () => act(() => root.unmount())
  await act(async () => root.render(
    <QueryClientProvider client={new QueryClient()}>
      <Alerts on={{ webhooks: true, domains: false, rates: true, deliverability: true, usage: true }} email="ada@example.com" />
    </QueryClientProvider>,
  ))
  const switches = () => [...place.querySelectorAll<HTMLInputElement>('[role=switch]')]
  return { place, switches, press: (i: number) => act(async () => switches()[i]?.click()) }
}

describe('Alerts', () => {
  it('shows the state of each topic and changes one topic only', async () => {
    const { place, switches, press } = await show()
    expect(place.textContent).toContain('ada@example.com')
    expect(switches().map((s) => s.checked)).toEqual([true, false, true, true, true])
    await press(0)
    await press(1)
    expect(server.patched).toEqual([{ path: '/user', body: { alerts: { webhooks: false } } }, { path: '/user', body: { alerts: { domains: true } } }])
  })

  it('shows the topics that the role gets', async () => {
    server.rights = ['BILLING']
    expect((await show()).place.textContent).toMatch(/Usage/)
    leave()
    expect((await show()).switches()).toHaveLength(1)
    leave()
    server.rights = []
    expect((await show()).place.textContent).toBe('')
  })

  it('returns to the saved state and reports the error if the change fails', async () => {
    server.refuse = new Error('The server is away')
    const { place, switches, press } = await show()
    await press(2)
    await vi.waitFor(() => expect(place.textContent).toContain('The server is away'))
    expect(switches().map((s) => s.checked)).toEqual([true, false, true, true, true])
  })
})
