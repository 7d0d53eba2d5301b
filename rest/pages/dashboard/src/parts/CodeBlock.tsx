import { CopyButton } from './CopyButton'
import type { ReactNode } from 'react'

// CodeBlock shows text verbatim, with a button to copy it. `run` names the program that runs the text, for tests.
export function CodeBlock({ text, title, wrap, run, copy = true, max = 'max-h-[480px]' }: { text: string; title?: ReactNode; wrap?: boolean; run?: string; copy?: boolean; max?: string }) {
  return (
    <div className="overflow-hidden rounded-card border border-line bg-sunken text-left">
      {title && <div className="flex min-h-[34px] items-center border-b border-line px-3 text-xs text-ink-2">{title}</div>}
      <div className="flex items-start">
        <pre tabIndex={0} data-run={run} className={`min-w-0 flex-1 overflow-auto px-3 py-2.5 leading-[18px] text-ink ${max} ${wrap ? 'whitespace-pre-wrap wrap-anywhere' : ''}`}>{text}</pre>
        {copy && <CopyButton text={text} label="Copy" className="m-1.5" />}
      </div>
    </div>
  )
}
