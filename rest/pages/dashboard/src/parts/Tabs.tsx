import { useId, type KeyboardEvent, type ReactNode } from 'react'

export interface Tab {
  key: string
  name: string
  count?: number
  hidden?: boolean
}

// Tabs is a row of tabs with the panel of the selected tab.
export function Tabs({ label, tabs, value, onChange, children, inset = 'px-4 md:px-6' }: { label: string; tabs: Tab[]; value: string; onChange: (key: string) => void; children: ReactNode; inset?: string }) {
  const id = useId()
  const visible = tabs.filter((t) => !t.hidden)
  function onKeyDown(e: KeyboardEvent<HTMLDivElement>) {
    const at = visible.findIndex((t) => t.key === value)
    const next = e.key === 'ArrowRight' ? at + 1 : e.key === 'ArrowLeft' ? at - 1 : e.key === 'Home' ? 0 : e.key === 'End' ? visible.length - 1 : null
    if (next === null) return
    e.preventDefault()
    const tab = visible[(next + visible.length) % visible.length]
    if (!tab) return
    onChange(tab.key)
    document.getElementById(`${id}-${tab.key}`)?.focus()
  }
  return (
    <>
      <div role="tablist" aria-label={label} onKeyDown={onKeyDown} className={`flex flex-none gap-3.5 overflow-x-auto border-b border-line ${inset}`}>
        {visible.map((t) => (
          <button
            key={t.key} id={`${id}-${t.key}`} type="button" role="tab" aria-selected={t.key === value} aria-controls={`${id}-panel`} tabIndex={t.key === value ? 0 : -1} onClick={() => onChange(t.key)}
            className="-mb-px h-9 flex-none border-b-2 border-transparent whitespace-nowrap text-ink-2 -outline-offset-2 hover:text-ink aria-selected:border-accent aria-selected:font-medium aria-selected:text-ink"
          >
            {t.name}{t.count !== undefined && <span className="ml-1.5 text-xs font-normal text-ink-3">{t.count}</span>}
          </button>
        ))}
      </div>
      <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${value}`} tabIndex={-1}>{children}</div>
    </>
  )
}

// SegmentedControl is a row of mutually exclusive choices.
export function SegmentedControl<T extends string>({ label, choices, value, onChange }: { label: string; choices: { key: T; name: string; icon?: ReactNode }[]; value: T; onChange: (key: T) => void }) {
  return (
    <div role="group" aria-label={label} className="inline-flex flex-none rounded-control border border-line bg-sunken p-0.5">
      {choices.map((c) => (
        <button key={c.key} type="button" aria-pressed={c.key === value} aria-label={c.icon ? c.name : undefined} title={c.icon ? c.name : undefined} onClick={() => onChange(c.key)} className="inline-grid h-[26px] min-w-7 place-items-center rounded-mark px-2 text-xs font-medium text-ink-2 hover:text-ink aria-pressed:bg-raised aria-pressed:text-ink aria-pressed:shadow-[0_0_0_1px_var(--color-line)]">
          {c.icon ?? c.name}
        </button>
      ))}
    </div>
  )
}
