import type { ReactNode } from 'react'

// Switch is a setting that takes effect immediately, with a description below its label.
export function Switch({ label, on, disabled, set, children }: { label: string; on: boolean; disabled: boolean; set: (on: boolean) => void; children: ReactNode }) {
  return (
    <label className={`flex items-start gap-3 ${disabled ? 'opacity-60' : ''}`}>
      <input type="checkbox" role="switch" checked={on} disabled={disabled} onChange={(e) => set(e.target.checked)} className="peer sr-only" />
      <span aria-hidden className="relative mt-0.5 h-[18px] w-8 flex-none rounded-full bg-line-strong transition-colors peer-checked:bg-accent-fill peer-focus-visible:outline-2 peer-focus-visible:outline-offset-2 peer-focus-visible:outline-accent after:absolute after:top-0.5 after:left-0.5 after:size-3.5 after:rounded-full after:bg-on-fill after:transition-transform peer-checked:after:translate-x-3.5" />
      <span><span className="font-medium">{label}</span><span className="block text-xs text-ink-3">{children}</span></span>
    </label>
  )
}
