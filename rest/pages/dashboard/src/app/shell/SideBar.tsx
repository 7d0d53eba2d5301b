import { Link } from '@tanstack/react-router'
import { Search, TriangleAlert } from 'lucide-react'
import { lazy, Suspense, useEffect, useId, useRef, useState, type ComponentProps } from 'react'
import { live } from '@/api/live'
import { testMode } from '@/api/mode'
import { useStore } from '@/api/store'
import { Logo } from '@/parts/Logo'
import { buildNav } from '../registry'
import { useViewer } from '../viewer'
import { navAlertCounts, paletteOpen, sideOpen } from './state'

const AccountMenu = lazy(() => import('./AccountMenu'))

const mac = /mac/i.test(navigator.userAgent)

export function SideBar({ idle }: { idle: boolean }) {
  const open = useStore(sideOpen)
  const drawer = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    if (open) drawer.current?.showModal()
    else drawer.current?.close()
  }, [open])
  return (
    <>
      <nav aria-label="Main" className="sticky top-0 hidden h-dvh flex-col gap-2 overflow-auto bg-canvas px-2 py-2.5 md:flex"><NavContents idle={idle} /></nav>
      <dialog ref={drawer} aria-label="Menu" onClose={() => sideOpen.set(false)} onClick={(e) => { if (e.target === e.currentTarget || (e.target as Element).closest('a')) sideOpen.set(false) }} className="fixed inset-y-0 left-0 m-0 h-dvh w-[272px] bg-canvas shadow-panel md:hidden">
        {open && <nav aria-label="Main" className="flex h-full flex-col gap-2 overflow-auto px-2 py-2.5"><NavContents idle={idle} /></nav>}
      </dialog>
    </>
  )
}

function NavContents({ idle }: { idle: boolean }) {
  const viewer = useViewer()
  const groups = buildNav({ ...viewer, can: viewer.rights })
  const alerts = useStore(navAlertCounts)
  const id = useId()
  // A press before the menu has loaded opens it as soon as it has. Like the menu's own trigger it counts when the button
  // goes down: the click is lost if the menu loads before the button goes up.
  const [wanted, setWanted] = useState(false)
  const unloaded = <AccountButton onPointerDown={(e) => { if (e.button === 0) setWanted(true) }} onClick={() => setWanted(true)} />
  return (
    <>
      {idle || wanted ? <Suspense fallback={unloaded}><AccountMenu open={wanted}><AccountButton /></AccountMenu></Suspense> : unloaded}
      <button type="button" onClick={() => { sideOpen.set(false); paletteOpen.set(true) }} className="flex h-[30px] w-full flex-none items-center gap-2 rounded-control border border-line bg-surface px-2 text-ink-3 hover:border-line-strong">
        <Search aria-hidden className="size-3.5" />Search or jump to<kbd className="key ml-auto">{mac ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      {groups.map(({ group, entries }) => (
        <section key={group}>
          {group && <h2 className="px-2 pt-2 pb-0.5 text-xs font-medium text-ink-3">{group}</h2>}
          <ul>
            {entries.map(({ to, name, icon: Icon }) => (
              <li key={to} className="relative">
                <Link to={to} aria-describedby={alerts.has(to) ? id + to : undefined} activeOptions={{ exact: to === '/', includeSearch: false }} className="group flex h-9 items-center gap-2 rounded-control px-2 text-ink-2 hover:bg-hover hover:text-ink md:h-7 aria-[current=page]:bg-press aria-[current=page]:font-medium aria-[current=page]:text-ink">
                  <Icon aria-hidden className="text-ink-3 group-aria-[current=page]:text-ink" />{name}
                </Link>
                {alerts.has(to) && <span id={id + to} className="pointer-events-none absolute inset-y-0 right-2 inline-flex items-center gap-1 text-xs text-warn"><TriangleAlert aria-hidden className="!size-3.5" />{alerts.get(to)}<span className="sr-only"> need attention</span></span>}
              </li>
            ))}
          </ul>
        </section>
      ))}
      <LiveIndicator />
    </>
  )
}

// AccountButton receives its props from the menu trigger.
function AccountButton(props: ComponentProps<'button'>) {
  const viewer = useViewer()
  const name = viewer.account?.name || viewer.moved?.name || viewer.user?.email || 'Postrider'
  return (
    <button type="button" aria-haspopup="menu" {...props} className="flex min-h-10 w-full flex-none items-center gap-2 rounded-control px-2 py-1 text-left hover:bg-hover">
      <Logo />
      <span className="min-w-0 flex-1">
        <b className="block truncate leading-4 font-semibold">{name}</b>
        <small className="block truncate text-xs text-ink-3">{viewer.account?.plan.name ?? viewer.user?.email}</small>
      </span>
    </button>
  )
}

const liveStates = { live: ['bg-ok-mark', 'Live'], connecting: ['bg-warn-mark', 'Connecting'], off: ['bg-line-strong', 'Live updates off'] } as const

function LiveIndicator() {
  const state = useStore(live)
  const [tone, word] = testMode ? ['bg-warn-mark', 'Updates every 5 seconds'] : liveStates[state]
  return (
    <p className="mt-auto flex items-center gap-2 px-2 pt-2 text-xs text-ink-3" title="Shows whether pages update automatically">
      <span aria-hidden className={`size-1.5 rounded-full ${tone}`} />{word}
    </p>
  )
}
