import { useNavigate } from '@tanstack/react-router'
import { Command } from 'cmdk'
import { CornerDownLeft, Plus, Search } from 'lucide-react'
import { useEffect, useLayoutEffect, useState } from 'react'
import { useGraphQL } from '@/api/graphql'
import { useStore } from '@/api/store'
import { useModal } from '@/parts/modal'
import { Time } from '@/parts/Time'
import { findPage, pageOfId } from '../ids'
import { buildNav } from '../registry'
import { setTheme } from '../theme'
import { useViewer, type Ability } from '../viewer'
import { PaletteSearch } from './palette.gen'
import { closePalette as close, paletteText, shortcutsOpen } from './state'

// pathOf returns the page of a search result.
const pathOf: Record<string, (id: string, detail: string) => string> = {
  EMAIL: (id) => `/emails/${id}`,
  RECEIVED_EMAIL: (id) => `/received/${id}`,
  DOMAIN: (id) => `/domains/${id}`,
  TEMPLATE: (id) => `/templates/${id}`,
  AUTOMATION: (id) => `/automations/${id}`,
  WEBHOOK: (id) => `/webhooks/${id}`,
  SUPPRESSION: (id) => `/suppressions/${id}`,
  API_KEY: (id) => `/keys/${id}`,
  AUTOMATION_RUN: (id) => `/automations/runs/${id}`,
  CUSTOM_EVENT: (id) => `/events/${id}`,
  WEBHOOK_DELIVERY: (id, endpoint) => `/webhooks/${endpoint}?open=${id}`,
  EVENT: (_, subject) => pageOfId(subject) ?? '/',
}
interface Action {
  name: string
  to: string
  right: Ability
  module?: string
}

const actions: Action[] = [
  { name: 'Add domain', to: '/domains?add=1', right: 'DEFINE', module: 'domains' },
  { name: 'New template', to: '/templates?new=1', right: 'DEFINE', module: 'templates' },
  { name: 'New automation', to: '/automations?new=1', right: 'DEFINE', module: 'automations' },
  { name: 'Create API key', to: '/keys?create=sending', right: 'DEFINE' },
  { name: 'Add webhook endpoint', to: '/webhooks?add=1', right: 'WRITE', module: 'webhooks' },
  { name: 'Suppress an address', to: '/suppressions?add=1', right: 'WRITE', module: 'suppression' },
  { name: 'Invite a member', to: '/team?invite=1', right: 'TEAM', module: 'signin' },
]

const typeLabels: Record<string, string> = { EMAIL: 'Email', RECEIVED_EMAIL: 'Received', DOMAIN: 'Domain', TEMPLATE: 'Template', AUTOMATION: 'Automation', WEBHOOK: 'Webhook', SUPPRESSION: 'Suppression', API_KEY: 'API key', AUTOMATION_RUN: 'Run', CUSTOM_EVENT: 'Event', WEBHOOK_DELIVERY: 'Delivery', EVENT: 'Event' }

export default function Palette() {
  const viewer = useViewer()
  const navigate = useNavigate()
  const dialog = useModal()
  const text = useStore(paletteText)
  const [searchText, setSearchText] = useState(text)
  useLayoutEffect(() => { // together with the opening, so that no key is lost
    dialog.current?.querySelector('input')?.focus() // the browser would focus the list
  }, [])
  useEffect(() => {
    const timer = setTimeout(() => setSearchText(text.trim()), 150)
    return () => clearTimeout(timer)
  }, [text])
  const search = useGraphQL(PaletteSearch, { query: searchText }, { enabled: searchText.length >= 2, keepPrevious: true })
  const entries = buildNav({ ...viewer, can: viewer.rights }).flatMap((g) => g.entries)
  const terms = text.toLowerCase().split(/\s+/).filter(Boolean)
  const matching = entries.filter((n) => terms.every((w) => `${n.name} ${n.group} ${n.keywords ?? ''}`.toLowerCase().includes(w)))
  const possible = terms.length > 0 ? actions.filter((a) => viewer.can(a.right) && (!a.module || viewer.has(a.module)) && terms.every((w) => a.name.toLowerCase().includes(w))) : []
  const starts = (n: { name: string }) => terms.length > 0 && n.name.toLowerCase().startsWith(text.trim().toLowerCase())
  const named = matching.some(starts) // pages come before results, so that Enter does not depend on when those arrive
  matching.sort((a, b) => Number(starts(b)) - Number(starts(a)))
  const direct = findPage(text)
  const results = searchText.length >= 2 && text.trim().length >= 2 ? (search.data?.search ?? []) : []
  const go = (to: string) => {
    close()
    const [path, search] = to.split('?')
    void navigate({ to: path, search: Object.fromEntries(new URLSearchParams(search)) } as never)
  }
  const pages = matching.length > 0 && (
    <Command.Group heading="Pages">
      {matching.map(({ to, name, icon: Icon, shortcut }) => (
        <Command.Item key={to} value={to} onSelect={() => go(to)} className="menu-item">
          <Icon aria-hidden />{name}
          {shortcut && <span className="ml-auto flex gap-1"><kbd className="key">g</kbd><kbd className="key">{shortcut}</kbd></span>}
        </Command.Item>
      ))}
    </Command.Group>
  )
  return (
    <dialog ref={dialog} aria-label="Search or jump to" onClose={close} onClick={(e) => e.target === e.currentTarget && close()} className="mx-auto mt-[12vh] w-[calc(100%-32px)] max-w-[560px] animate-pop overflow-hidden rounded-panel bg-raised shadow-panel">
      <Command shouldFilter={false} loop label="Search or jump to">
        <label className="flex h-12 items-center gap-2.5 border-b border-line px-4">
          <Search aria-hidden className="text-ink-3" />
          <Command.Input value={text} onValueChange={paletteText.set} placeholder="Search for an email address, subject, ID or page" className="min-w-0 flex-1 bg-transparent text-md outline-none" />
          <kbd className="key">Esc</kbd>
        </label>
        <Command.List className="max-h-[min(420px,60vh)] overflow-auto p-1.5 [&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-ink-3">
          <Command.Empty className="px-2 py-6 text-center text-ink-3">{search.isFetching ? 'Searching…' : search.error ? search.error.message : 'No results'}</Command.Empty>
          {direct && !results.some((r) => r.id === direct.id) && (
            <Command.Group heading={direct.name[0]?.toUpperCase() + direct.name.slice(1)}>
              <Command.Item value="direct" onSelect={() => go(direct.path)} className="menu-item"><CornerDownLeft aria-hidden /><span className="min-w-0 truncate">{direct.id}</span></Command.Item>
            </Command.Group>
          )}
          {named && pages}
          {results.length > 0 && (
            <Command.Group heading="Results">
              {results.map((r) => (
                <Command.Item key={r.id} value={r.id} onSelect={() => go(pathOf[r.type]?.(r.id, r.detail) ?? '/')} className="menu-item">
                  <span className="w-20 flex-none text-xs text-ink-3">{typeLabels[r.type] ?? r.type}</span>
                  <span className="min-w-0 truncate">{r.title}</span>
                  <span className="ml-auto max-w-[40%] flex-none truncate text-xs text-ink-3">{r.detail || <Time at={r.createdAt} />}</span>
                </Command.Item>
              ))}
            </Command.Group>
          )}
          {!named && pages}
          {possible.length > 0 && (
            <Command.Group heading="Actions">
              {possible.map((a) => <Command.Item key={a.to} value={a.to} onSelect={() => go(a.to)} className="menu-item"><Plus aria-hidden />{a.name}</Command.Item>)}
            </Command.Group>
          )}
          {terms.length > 0 && 'keyboard shortcuts'.includes(text.trim().toLowerCase()) && (
            <Command.Group heading="Help">
              <Command.Item value="shortcuts" onSelect={() => { close(); shortcutsOpen.set(true) }} className="menu-item"><CornerDownLeft aria-hidden />Keyboard shortcuts<kbd className="key ml-auto">?</kbd></Command.Item>
            </Command.Group>
          )}
          {'theme light dark system'.includes(terms[0] ?? '-') && (
            <Command.Group heading="Theme">
              {(['light', 'dark', 'system'] as const).map((t) => (
                <Command.Item key={t} value={`theme ${t}`} onSelect={() => { setTheme(t); close() }} className="menu-item"><CornerDownLeft aria-hidden />Theme: {t}</Command.Item>
              ))}
            </Command.Group>
          )}
        </Command.List>
      </Command>
    </dialog>
  )
}
