// @vitest-environment happy-dom
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { act } from 'react'
import { createRoot } from 'react-dom/client'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ApiError } from '@/api/errors'
import type { Draft } from './useDraft'

const server = vi.hoisted(() => ({ record: {} as Record<string, unknown>, patched: [] as { etag: string; body: Record<string, unknown> }[], refuse: null as Error | null }))
vi.mock('@/api/rest', () => ({
  unwrap: (p: Promise<unknown>) => p,
  rest: {
    GET: () => Promise.resolve({ automation: server.record }),
    PATCH: (_: string, { params, body }: { params: { header: { 'If-Match': string } }; body: Record<string, unknown> }) => {
      server.patched.push({ etag: params.header['If-Match'], body })
      if (server.refuse) return Promise.reject(server.refuse)
      if (params.header['If-Match'] !== server.record.etag) return Promise.reject(new ApiError('The draft was changed since', { status: 409, code: 'conflict', details: { changed_by: 'ada@example.com' } }))
      server.record = { ...server.record, ...body, etag: `${String(server.record.etag)}+` }
      return Promise.resolve({ automation: server.record })
    },
  },
}))
vi.mock('@/screens/code/unsaved', () => ({ useUnsaved: () => ({ set, leaving: { status: 'idle' } }) }))
vi.mock('@/app/toasts', () => ({ toast: { success: () => {}, error: () => {} } }))
const set = () => {}

const { useDraft } = await import('./useDraft')
;(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true

const none: never[] = []
const saved = () => {}
const steps = (subject: string) => [{ key: 'a', type: 'send_email', from: 'a@example.com', subject, text: 'x' }]

let leave = () => {}
afterEach(() => leave())

async function hook() {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } })
  const result = {} as { current: Draft }
  function Probe() {
    result.current = useDraft('aut_1', none, saved)
    return null
  }
  const root = createRoot(document.createElement('div'))
  leave = () => act(() => root.unmount())
  await act(async () => root.render(<QueryClientProvider client={client}><Probe /></QueryClientProvider>))
  await vi.waitFor(async () => {
    await act(async () => {})
    expect(result.current.doc?.name).toBe('Welcome')
  }, 10_000)
  return result
}

beforeEach(() => {
  server.record = { id: 'aut_1', name: 'Welcome', description: null, timezone: null, status: 'draft', trigger: { event: 'e' }, steps: steps('Hello'), etag: 'v1', updated_at: '2026-01-15T09:30:00Z' }
  server.patched = []
  server.refuse = null
})

describe('a draft', () => {
  it('is saved with what was read, and can be undone after that', async () => {
    const draft = await hook()
    act(() => draft.current.change((d) => ({ ...d, name: 'Hi' }), 'name'))
    expect(draft.current.dirty).toBe(true)
    await act(async () => expect(await draft.current.save()).toBe(true))
    expect(server.patched[0]).toMatchObject({ etag: 'v1', body: { name: 'Hi' } })
    expect(draft.current.dirty).toBe(false)
    act(() => draft.current.undo?.())
    expect([draft.current.doc?.name, draft.current.dirty]).toEqual(['Welcome', true])
  })

  it('tells of somebody else, and loses neither theirs nor mine', async () => {
    const draft = await hook()
    act(() => draft.current.change((d) => ({ ...d, name: 'Mine' }), 'name'))
    server.record = { ...server.record, name: 'Theirs', steps: steps('Theirs'), etag: 'v2' }
    await act(async () => expect(await draft.current.save()).toBe(false))
    expect(draft.current.conflict).toMatchObject({ by: 'ada@example.com', base: { name: 'Welcome' }, mine: { name: 'Mine' } })
    act(() => draft.current.takeTheirs())
    expect([draft.current.doc?.name, draft.current.dirty, draft.current.conflict]).toEqual(['Theirs', false, null])
    act(() => draft.current.undo?.())
    expect(draft.current.doc?.name).toBe('Mine')
    await act(async () => expect(await draft.current.save()).toBe(true))
    expect(server.patched.at(-1)?.etag).toBe('v2')
  })

  it('saves what was put together over what was seen, and keeps both states', async () => {
    const draft = await hook()
    act(() => draft.current.change((d) => ({ ...d, name: 'Mine' }), 'name'))
    server.record = { ...server.record, steps: steps('Theirs'), etag: 'v2' }
    await act(async () => { await draft.current.save() })
    await act(async () => { await draft.current.save({ doc: { name: 'Mine', trigger: { event: 'e' }, steps: steps('Theirs') }, etag: 'v2' }) })
    expect(server.record).toMatchObject({ name: 'Mine', steps: steps('Theirs') })
    expect([draft.current.conflict, draft.current.dirty]).toEqual([null, false])
    act(() => draft.current.undo?.())
    expect(draft.current.doc).toMatchObject({ name: 'Welcome', steps: steps('Theirs') })
    act(() => draft.current.undo?.())
    expect(draft.current.doc).toMatchObject({ name: 'Mine', steps: steps('Hello') })
  })

  it('puts a refusal at its field until this says something else', async () => {
    const draft = await hook()
    act(() => draft.current.change((d) => ({ ...d, steps: steps('{{ x }}') })))
    server.refuse = new ApiError('Invalid fields', { status: 400, code: 'validation_error', details: { 'steps[0].subject': 'there is no x' } })
    await act(async () => expect(await draft.current.save()).toBe(false))
    expect(draft.current.troubles).toEqual([{ at: 'a', field: 'subject', message: 'there is no x', bad: true }])
    act(() => draft.current.change((d) => ({ ...d, steps: steps('y') })))
    expect(draft.current.troubles).toEqual([])
  })

  it('is one with its JSON, and waits for text that is none', async () => {
    const draft = await hook()
    act(() => draft.current.type('{"name": "x"'))
    expect([draft.current.broken, draft.current.dirty, draft.current.doc?.name]).toEqual([true, true, 'Welcome'])
    act(() => draft.current.type(JSON.stringify({ name: 'By hand', trigger: { event: 'e' }, steps: [{ type: 'end' }] })))
    expect([draft.current.broken, draft.current.doc?.name, draft.current.doc?.steps]).toEqual([false, 'By hand', [{ type: 'end' }]])
  })
})
