export interface SavedView {
  name: string
  q: string
}

const most = 50 // views of one list

// viewsKey identifies the views that a person saved for a list of an account.
export const viewsKey = (person: string, account: string, list: string) => `postrider-views:${person}:${account}:${list}`

// readViews returns the saved views; none if the browser has no storage.
export function readViews(key: string): SavedView[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(key) ?? '[]')
    return Array.isArray(stored) ? stored.filter((v): v is SavedView => typeof v?.name === 'string' && typeof v?.q === 'string') : []
  } catch {
    return []
  }
}

// writeViews stores views and reports whether that worked.
export function writeViews(key: string, views: SavedView[]): boolean {
  try {
    localStorage.setItem(key, JSON.stringify(views.slice(-most)))
    return true
  } catch {
    return false
  }
}

// saveView adds a view, or replaces the one with the same name.
export const saveView = (views: SavedView[], view: SavedView): SavedView[] => [...views.filter((v) => v.name !== view.name), view].sort((a, b) => a.name.localeCompare(b.name))
