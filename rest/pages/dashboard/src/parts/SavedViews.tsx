import { useLocation } from '@tanstack/react-router'
import { Bookmark, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { Dialog } from './Dialog'
import { Menu } from './Menu'
import { readViews, saveView, viewsKey, writeViews, type SavedView } from './savedViews'

// SavedViews is the menu of the filters that the person saved for a list, in this browser.
export function SavedViews({ q, apply }: { q: string; apply: (q: string) => void }) {
  const { user, account } = useViewer()
  const { pathname } = useLocation()
  const key = viewsKey(user?.id ?? '', account?.id ?? '', pathname)
  const [views, setViews] = useState(() => readViews(key))
  const [naming, setNaming] = useState(false)
  const current = views.find((v) => v.q === q)
  const write = (next: SavedView[]) => {
    if (writeViews(key, next)) setViews(next)
    else toast.error(new Error('This browser does not allow storing views.'))
  }
  if (!q && views.length === 0) return null
  return (
    <>
      <Menu label="Saved views" align="end" entries={[
        ...views.map((v) => ({ name: v.name, icon: Bookmark, run: () => apply(v.q) })),
        { name: 'Save this view', icon: Plus, run: () => setNaming(true), hidden: !q || !!current },
        { name: `Delete “${current?.name}”`, icon: Trash2, danger: true, hidden: !current, run: () => write(views.filter((v) => v !== current)) },
      ]}>
        <button type="button" className="btn !h-[34px] max-w-48" aria-label={current ? undefined : 'Saved views'} title="Saved views"><Bookmark aria-hidden />{current ? <span className="truncate">{current.name}</span> : <span className="max-md:hidden">Views</span>}</button>
      </Menu>
      {naming && <SaveView taken={views} onClose={() => setNaming(false)} save={(name) => { write(saveView(views, { name, q })); setNaming(false) }} />}
    </>
  )
}

function SaveView({ taken, onClose, save }: { taken: SavedView[]; onClose: () => void; save: (name: string) => void }) {
  const [name, setName] = useState('')
  const trimmed = name.trim()
  return (
    <Dialog title="Save view" onClose={onClose} actions={<><button type="button" className="btn" onClick={onClose}>Cancel</button><button type="submit" form="save-view" className="btn primary" disabled={!trimmed}>{taken.some((v) => v.name === trimmed) ? 'Replace view' : 'Save view'}</button></>}>
      <form id="save-view" className="grid gap-1.5" onSubmit={(e) => { e.preventDefault(); if (trimmed) save(trimmed) }}>
        <label htmlFor="view-name">Name</label>
        <input id="view-name" className="input" autoFocus autoComplete="off" maxLength={60} value={name} onChange={(e) => setName(e.target.value)} />
        <p className="text-xs text-ink-3">Only you see this view, in this browser.</p>
      </form>
    </Dialog>
  )
}
