import { ArrowDown, ArrowUp, CircleAlert, Copy, Move, Trash2, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { Menu } from '@/parts/Menu'
import { sentenceOf } from './model/sentence'
import { figuresOf, toPanel, useScene, type Figures, type Mark } from './scene'

// Block is one step in the outline, with its figures, problems and actions.
export function Block({ at, icon, name, children }: { at: string; icon: ReactNode; name: ReactNode; children?: ReactNode }) {
  const { selected, select, figures, troubles, marks, edit, runs } = useScene()
  const own = troubles.filter((t) => t.at === at)
  const known = figures.get(at)
  const mark = marks.get(at)
  const dim = marks.size > 0 && !mark && at !== 'trigger'
  return (
    <div data-block className={`group relative rounded-card border bg-surface px-3 py-2 ${selected === at ? 'border-accent shadow-[0_0_0_1px_var(--color-accent)]' : edit?.carried === at ? 'border-dashed border-line-strong' : 'border-line hover:border-line-strong'} ${dim ? 'border-dashed' : ''}`}>
      <div className="flex items-start gap-2">
        <span className={`mt-0.5 ${dim ? 'text-ink-3' : 'text-ink-2'}`}>{icon}</span>
        <div className="min-w-0 flex-1">
          <div className="flex items-start gap-2">
            <button type="button" data-step={at} aria-pressed={selected === at} onClick={(e) => { select(at); if (e.detail === 0) toPanel() }} className="min-w-0 flex-1 text-left font-medium wrap-anywhere after:absolute after:inset-0 after:rounded-card">{name}</button>
            {mark && <MarkBadge mark={mark} />}
            {edit && at !== 'trigger' && (
              <div className="relative z-1 -my-1 -mr-2">
                <Menu label={`Actions for ${at}`} entries={[
                  { name: 'Move up (Alt ↑)', icon: ArrowUp, run: () => edit.shift(at, -1) },
                  { name: 'Move down (Alt ↓)', icon: ArrowDown, run: () => edit.shift(at, 1) },
                  { name: 'Move to… (Ctrl X)', icon: Move, run: () => edit.carry(at) },
                  { name: 'Duplicate (Ctrl D)', icon: Copy, run: () => edit.duplicate(at) },
                  { name: 'Delete (Del)', icon: Trash2, run: () => edit.remove(at), danger: true },
                ]}>
                  <button type="button" className="btn quiet sm square" aria-label={`Actions for step ${at}`}>⋯</button>
                </Menu>
              </div>
            )}
          </div>
          <div className="grid gap-0.5 text-xs text-ink-2">{children}</div>
        </div>
      </div>
      {own.length > 0 && (
        <ul className="mt-1 grid gap-0.5 text-xs">
          {own.map((t, i) => {
            const Icon = t.bad ? CircleAlert : TriangleAlert
            return <li key={i} className={`flex items-start gap-1 wrap-anywhere ${t.bad ? 'text-bad' : 'text-warn'}`}><Icon aria-hidden className="mt-px !size-3.5" /><span title={t.field || undefined}>{sentenceOf(t)}</span></li>
          })}
        </ul>
      )}
      {known && known.stats.entered > 0 && <StepFigures figures={known} runs={runs && (() => runs(at))} />}
    </div>
  )
}

export function MarkBadge({ mark }: { mark: Mark }) {
  return <span className={`badge tone-${mark.tone} flex-none`}><span aria-hidden className="tabular-nums">{mark.nth}</span>{mark.word}</span>
}

function StepFigures({ figures, runs }: { figures: Figures; runs?: () => void }) {
  return (
    <div className="mt-1.5 flex flex-wrap items-center gap-x-3 gap-y-0.5 border-t border-line-soft pt-1.5 text-xs text-ink-2">
      {figuresOf(figures).map(([name, n, tone]) => <span key={name} className={tone}><b className="font-medium tabular-nums">{n.toLocaleString()}</b> {name}</span>)}
      {runs && <button type="button" className="link relative z-1 ml-auto" onClick={runs}>Runs at this step</button>}
    </div>
  )
}
