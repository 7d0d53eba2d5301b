import { Columns3, Square, SquareCheck } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from '@tanstack/react-router'
import { useViewer } from '@/app/viewer'
import type { Column } from './DataTable'
import { Menu } from './Menu'
import { readHidden, writeHidden } from './hiddenColumns'

// useColumns returns the columns that the user wants to see, and the menu to choose them. The choice is kept in this
// browser, for each user and list.
export function useColumns<Row>(columns: Column<Row>[]) {
  const { user } = useViewer()
  const { pathname } = useLocation()
  const key = `postrider-columns:${user?.id ?? ''}:${pathname}`
  const [hidden, setHidden] = useState(() => readHidden(key))
  const toggle = (column: string) => {
    const next = hidden.includes(column) ? hidden.filter((c) => c !== column) : [...hidden, column]
    setHidden(next)
    writeHidden(key, next)
  }
  const menu = (
    <Menu label="Columns" align="end" entries={columns.flatMap((c) => (c.optional ? [{ name: c.optional, icon: hidden.includes(c.key) ? Square : SquareCheck, run: () => toggle(c.key) }] : []))}>
      <button type="button" className="btn square !h-[34px] max-md:hidden" aria-label="Columns" title="Choose columns"><Columns3 aria-hidden /></button>
    </Menu>
  )
  return { columns: columns.filter((c) => !c.optional || !hidden.includes(c.key)), menu }
}
