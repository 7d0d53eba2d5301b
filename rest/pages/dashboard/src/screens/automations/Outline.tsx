import { ArrowDown, CornerDownRight, Play } from 'lucide-react'
import { useMemo, type KeyboardEvent } from 'react'
import { Insert } from './Insert'
import { after } from './model/edit'
import { outlineOf, type Node } from './model/outline'
import { againOf, cancelsOf, settingOf } from './model/summary'
import { wordsOfExpression } from './model/expression'
import { Block } from './OutlineBlock'
import { useScene } from './scene'
import { eventOf } from './status'
import { lookOfStep } from './steps/kinds'

// Outline shows the automation from its trigger: steps in order, with the ways of a deciding step below it.
// All actions on steps are available by keyboard.
export function Outline() {
  const { trigger, steps, edit } = useScene()
  const tree = useMemo(() => outlineOf(steps), [steps])
  const cancels = cancelsOf(trigger)
  return (
    <div onKeyDown={(e) => press(e, edit)} role="group" aria-label="Automation outline" className="min-w-0">
      <Block at="trigger" icon={<Play aria-hidden />} name={eventOf(trigger) ? <>On <code>{eventOf(trigger)}</code></> : 'Choose an event'}>
        {typeof trigger.conditions === 'string' && <p className="wrap-anywhere">Only if {wordsOfExpression(trigger.conditions)}</p>}
        <p>Runs {againOf(trigger)}.{cancels.length > 0 && <> Cancelled by {cancels.map((c, i) => <span key={c}>{i > 0 && ', '}<code>{c}</code></span>)}.</>}</p>
      </Block>
      {steps.length === 0 && <div className="grid justify-items-start gap-2 py-3 pl-3 text-ink-2">No steps yet.<Insert place={{ before: '' }} label="at the start" word /></div>}
      <Sequence nodes={tree.nodes} end={steps.length === 0 ? '' : tree.end} first />
    </div>
  )
}

// press moves between steps with the arrow keys, and edits the focused step.
function press(e: KeyboardEvent<HTMLDivElement>, edit: ReturnType<typeof useScene>['edit']) {
  const target = e.target as HTMLElement
  if (!e.currentTarget.contains(target)) return // in a menu, which is elsewhere in the page
  const all = [...e.currentTarget.querySelectorAll<HTMLElement>('[data-step]')]
  const at = all.findIndex((el) => el === document.activeElement || el.closest('[data-block]')?.contains(document.activeElement))
  const key = all[at]?.dataset.step
  const by = { ArrowDown: 1, ArrowUp: -1 }[e.key] as 1 | -1 | undefined
  const own = target.dataset.step !== undefined
  if (e.key === 'Escape' && edit?.carried) edit.carry(null)
  else if (by && e.altKey && key && key !== 'trigger') edit?.shift(key, by)
  else if (by && !e.altKey && !e.ctrlKey && !e.metaKey && all[at + by]) all[at + by]?.focus()
  else if (own && key && key !== 'trigger' && (e.key === 'Delete' || e.key === 'Backspace')) edit?.remove(key)
  else if (own && key && key !== 'trigger' && e.key === 'd' && (e.ctrlKey || e.metaKey)) edit?.duplicate(key)
  else if (own && key && key !== 'trigger' && e.key === 'x' && (e.ctrlKey || e.metaKey)) edit?.carry(key)
  else if (own && edit && e.key === '+') {
    const buttons = [...e.currentTarget.querySelectorAll<HTMLElement>('[data-insert]')]
    buttons.find((b) => all[at] && all[at].compareDocumentPosition(b) & Node_FOLLOWING)?.focus()
  } else return
  e.preventDefault()
}

const Node_FOLLOWING = 4

function Sequence({ nodes, end, first }: { nodes: Node[]; end: string; first?: boolean }) {
  return (
    <ol>
      {nodes.map((n, i) => (
        <li key={n.key}>
          <Gap>{i === 0 && first ? <Insert place={{ before: n.key }} label="at the start" /> : i > 0 && <Behind node={nodes[i - 1]} />}</Gap>
          <StepItem node={n} />
        </li>
      ))}
      {nodes.length > 0 && <li className="flex items-center gap-2 pt-1 pl-2"><Behind node={nodes.at(-1)} last />{end && <span className="flex items-center gap-1.5 py-1 text-xs text-ink-3"><CornerDownRight aria-hidden className="!size-3.5" />{end}</span>}</li>}
    </ol>
  )
}

// Gap is the space between two steps.
function Gap({ children }: { children: React.ReactNode }) {
  return <div className="flex h-7 pointer-coarse:h-10 items-center gap-1 pl-2 text-ink-3">{children || <ArrowDown aria-hidden className="ml-1 !size-3" />}</div>
}

function Behind({ node, last }: { node: Node | undefined; last?: boolean }) {
  const place = node && !node.lost && node.step.type !== 'end' ? after(node) : null
  if (!node || !place || (last && 'before' in place)) return null
  return <Insert place={place} label={`after ${node.step.name ?? node.key}`} />
}

function StepItem({ node: n }: { node: Node }) {
  const look = lookOfStep(n.step.type)
  const setting = settingOf(n.step)
  return (
    <>
      {n.lost && <p className="pb-1 text-xs text-warn">Not reachable:</p>}
      <Block at={n.key} icon={<look.icon aria-hidden />} name={n.step.name ?? look.word}>
        {(setting || n.step.name) && <p className="wrap-anywhere">{n.step.name && setting ? `${look.word}: ${setting}` : setting || look.word}</p>}
      </Block>
      {n.ways.length > 0 && (
        <ul className="mt-1 ml-3 grid gap-1 border-l-2 border-line pl-3">
          {n.ways.map((w) => (
            <li key={w.slot} className="min-w-0 pt-1">
              <div className="flex items-center gap-2 text-xs"><Insert place={{ after: n.key, slot: w.slot }} label={w.label.toLowerCase()} /><span className="min-w-0 font-medium text-ink-2 wrap-anywhere">{w.label}</span>{w.nodes.length === 0 && w.end && <span className="flex-none text-ink-3">{w.end}</span>}</div>
              {w.nodes.length > 0 && <Sequence nodes={w.nodes} end={w.end} />}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
