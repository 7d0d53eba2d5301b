import { Dialog } from '@/parts/Dialog'
import { buildNav } from '../registry'
import { useViewer } from '../viewer'
import { shortcutsOpen } from './state'

const close = () => shortcutsOpen.set(false)

const general: [string[], string][] = [[['⌘ K'], 'Search or jump to'], [['/'], 'Filter the list'], [['?'], 'Keyboard shortcuts']]
const lists: [string[], string][] = [[['j', 'k'], 'Next and previous row'], [['Enter'], 'Open the row and move into its sheet'], [['Esc'], 'Close the sheet and return to the list'], [['x'], 'Select the row'], [['b'], 'Move to the actions for selected rows']]

// Shortcuts lists the keyboard shortcuts.
export default function Shortcuts() {
  const viewer = useViewer()
  const screens = buildNav({ ...viewer, can: viewer.rights }).flatMap((g) => g.entries).flatMap((n): [string[], string][] => (n.shortcut ? [[['g', n.shortcut], n.name]] : []))
  return (
    <Dialog wide title="Keyboard shortcuts" onClose={close} actions={<button type="button" className="btn" onClick={close} autoFocus>Close</button>}>
      <div className="grid gap-x-8 gap-y-4 sm:grid-cols-2">
        <Group title="Everywhere" keys={general} />
        <Group title="Lists" keys={lists} />
        <Group title="Go to" keys={screens} wide />
      </div>
    </Dialog>
  )
}

function Group({ title, keys, wide }: { title: string; keys: [string[], string][]; wide?: boolean }) {
  return (
    <section className={wide ? 'sm:col-span-2' : ''}>
      <h3 className="mb-1 text-xs text-ink-3">{title}</h3>
      <dl className={`grid gap-x-8 gap-y-1 ${wide ? 'sm:grid-cols-2' : ''}`}>
        {keys.map(([all, does]) => <div key={does} className="flex items-center gap-2"><dt className="flex w-14 flex-none gap-1">{all.map((k) => <kbd key={k} className="key">{k}</kbd>)}</dt><dd>{does}</dd></div>)}
      </dl>
    </section>
  )
}
