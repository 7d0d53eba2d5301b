// readHidden returns the columns of a list that the user hides; none if the browser has no storage.
export function readHidden(key: string): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(key) ?? '[]')
    return Array.isArray(stored) ? stored.filter((c) => typeof c === 'string') : []
  } catch {
    return []
  }
}

// writeHidden keeps the choice. Without storage, it lasts until the page is closed.
export function writeHidden(key: string, columns: string[]) {
  try {
    localStorage.setItem(key, JSON.stringify(columns))
  } catch {
    // the choice applies to this visit
  }
}
