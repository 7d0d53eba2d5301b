// @vitest-environment happy-dom
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { act } from 'react'
import { createRoot } from 'react-dom/client'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Domain } from './Page'

const server = vi.hoisted(() => ({ rights: ['DEFINE'], patched: [] as unknown[], refuse: null as Error | null }))
vi.mock('@/app/viewer', () => ({ useViewer: () => ({ can: (right: string) => server.rights.includes(right), has: () => true }) }))
vi.mock('@/api/rest', () => ({
  unwrap: (p: Promise<unknown>) => p,
  rest: { PATCH: (_: string, { body }: { body: unknown }) => { server.patched.push(body); return server.refuse ? Promise.reject(server.refuse) : Promise.resolve({}) } },
}))

const { Settings } = await import('./Settings')
;(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true

let leave = () => {}
beforeEach(() => { server.rights = ['DEFINE']; server.patched = []; server.refuse = null })
afterEach(() => leave())

const domain = { id: 'dom_1', name: 'example.com', status: 'VERIFIED', dkimKeys: [], tlsMode: 'OPPORTUNISTIC', openTracking: false, clickTracking: false, inboundEnabled: true, mtaSts: 'OFF', bimiLogoUrl: 'https://example.com/a.svg', bimiCertificateUrl: null } as unknown as Domain

async function show(changes: Partial<Domain> = {}) {
  const place = document.body.appendChild(document.createElement('div'))
  const root = createRoot(place)
  leave = () => { act(() => root.unmount()); place.remove() }
  await act(async () => root.render(<QueryClientProvider client={new QueryClient()}><Settings domain={{ ...domain, ...changes }} read={async () => {}} /></QueryClientProvider>))
  const field = <T extends HTMLElement>(label: string) => document.getElementById([...place.querySelectorAll('label')].find((l) => l.textContent === label)?.htmlFor ?? '') as T
  const enter = (element: HTMLInputElement | HTMLSelectElement, value: string) => act(async () => {
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(element), 'value')?.set?.call(element, value)
    element.dispatchEvent(new Event(element instanceof HTMLSelectElement ? 'change' : 'input', { bubbles: true }))
  })
  const save = () => [...place.querySelectorAll('button')].find((b) => b.textContent === 'Save BIMI settings') as HTMLButtonElement
  return { place, field, enter, save }
}

it('saves both BIMI URLs together, and removes an empty one', async () => {
  const { field, enter, save } = await show()
  expect(save().disabled).toBe(true)
  await enter(field<HTMLInputElement>('BIMI certificate URL'), ' https://example.com/vmc.pem ')
  await enter(field<HTMLInputElement>('BIMI logo URL'), '')
  expect(save().disabled).toBe(false)
  await act(async () => save().click())
  expect(server.patched).toEqual([{ bimi_logo_url: null, bimi_certificate_url: 'https://example.com/vmc.pem' }])
})

it('sets the mode of the MTA-STS policy of a domain that receives mail', async () => {
  const { field, enter } = await show()
  await enter(field<HTMLSelectElement>('TLS of incoming mail (MTA-STS)'), 'TESTING')
  expect(server.patched).toEqual([{ mta_sts: 'testing' }])
})

it('offers no policy to a domain that receives no mail, unless it has one', async () => {
  const label = 'TLS of incoming mail (MTA-STS)'
  expect((await show({ inboundEnabled: false })).place.textContent).not.toContain(label)
  leave()
  expect((await show({ inboundEnabled: false, mtaSts: 'NONE' })).place.textContent).toContain(label)
})

it('changes nothing without the right to write', async () => {
  server.rights = []
  const { field, save } = await show()
  expect(field<HTMLInputElement>('BIMI logo URL').disabled && field<HTMLSelectElement>('TLS of incoming mail (MTA-STS)').disabled && save().disabled).toBe(true)
})
