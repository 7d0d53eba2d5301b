import { Component, Suspense, lazy, useId, type ReactNode } from 'react'

// Mark is a problem at a position in the text.
export interface Mark {
  from: number
  to: number
  message: string
  doubtful?: boolean
}

// Completion is a variable that the editor offers after `{{`.
export interface Completion {
  name: string
  type: string
  example: string
}

// Names are those that the editor offers after `{% layout`, `{% render` and `{% block`.
export interface Names {
  layouts: string[]
  partials: string[]
  blocks: string[]
}

export interface CodeProps {
  label: string
  language: 'html' | 'json' | 'text'
  value: string
  onChange?: (text: string) => void
  readOnly?: boolean
  marks?: Mark[]
  // at moves the cursor whenever a new object is passed.
  at?: { from: number; to: number }
  // insert replaces the selection whenever a new object is passed.
  insert?: { text: string }
  completions?: Completion[]
  names?: Names
}

const CodeMirror = lazy(() => import('./CodeMirror'))

// Code is the code editor, which is loaded when it is first shown. Until then, and if it cannot be
// loaded, a plain text field replaces it. Esc and Tab leave it.
export function Code({ height = 'h-[480px]', ...p }: CodeProps & { height?: string }) {
  const hint = useId()
  return (
    <div className={`relative min-w-0 overflow-hidden rounded-control border border-line-strong ${height}`} aria-describedby={hint}>
      <Fallback fallback={<Plain {...p} />}>
        <Suspense fallback={<Plain {...p} />}><CodeMirror {...p} /></Suspense>
      </Fallback>
      <span id={hint} className="sr-only">Code editor. Tab moves to the next control.</span>
    </div>
  )
}

function Plain({ label, value, onChange, readOnly }: CodeProps) {
  return <textarea aria-label={label} value={value} readOnly={readOnly || !onChange} onChange={(e) => onChange?.(e.target.value)} spellCheck={false} className="block size-full resize-none bg-surface p-3 font-mono text-xs text-ink" />
}

class Fallback extends Component<{ fallback: ReactNode; children: ReactNode }, { broken: boolean }> {
  state = { broken: false }
  static getDerivedStateFromError = () => ({ broken: true })
  render = () => (this.state.broken ? this.props.fallback : this.props.children)
}
