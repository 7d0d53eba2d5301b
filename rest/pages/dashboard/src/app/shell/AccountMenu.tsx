import { Link } from '@tanstack/react-router'
import { BookOpen, Check, FlaskConical, LogOut, Monitor, Moon, Settings, Sparkles, Sun } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import type { ReactNode } from 'react'
import { unwrap, rest } from '@/api/rest'
import { switchMode, testMode } from '@/api/mode'
import { useStore } from '@/api/store'
import { screens } from '../registry'
import { switchAccount } from '../switchAccount'
import { setTheme, theme, type Theme } from '../theme'
import { toast } from '../toasts'
import { canView, useViewer } from '../viewer'

const themes: [Theme, string, typeof Sun][] = [['system', 'System', Monitor], ['light', 'Light', Sun], ['dark', 'Dark', Moon]]

export default function AccountMenu({ open, children }: { open: boolean; children: ReactNode }) {
  const viewer = useViewer()
  const chosen = useStore(theme)
  const settings = screens.some((s) => s.routes.some((r) => r.path === '/settings') && canView(s, { ...viewer, can: viewer.rights }))
  return (
    <DropdownMenu.Root modal={false} defaultOpen={open}>
      <DropdownMenu.Trigger asChild>{children}</DropdownMenu.Trigger>
      <DropdownMenu.Content align="start" sideOffset={4} className="menu w-[224px]">
        <p className="truncate px-2 py-1 text-xs text-ink-3">{viewer.user?.email}</p>
        {viewer.accounts.length > 1 && viewer.accounts.map((a) => (
          <DropdownMenu.Item key={a.accountId} className="menu-item" onSelect={() => void switchAccount(a.accountId)}>
            <span className="min-w-0 flex-1 truncate">{a.name}</span>
            {a.movedTo && <span className="text-xs text-ink-3">moved</span>}
            {a.accountId === (viewer.account?.id ?? viewer.moved?.accountId) && <Check aria-label="current account" />}
          </DropdownMenu.Item>
        ))}
        <DropdownMenu.Separator className="-mx-1 my-1 border-t border-line" />
        {viewer.account && viewer.has('testmode') && (
          <DropdownMenu.CheckboxItem checked={testMode} className="menu-item" onCheckedChange={(on) => switchMode(on)}>
            <FlaskConical aria-hidden />Test mode
            <DropdownMenu.ItemIndicator className="ml-auto"><Check aria-hidden /></DropdownMenu.ItemIndicator>
          </DropdownMenu.CheckboxItem>
        )}
        {settings && <DropdownMenu.Item asChild className="menu-item"><Link to="/settings"><Settings aria-hidden />Settings</Link></DropdownMenu.Item>}
        <DropdownMenu.Item asChild className="menu-item"><a href="/manual/" target="_blank" rel="noreferrer"><BookOpen aria-hidden />Manual</a></DropdownMenu.Item>
        <DropdownMenu.Item asChild className="menu-item"><a href="/manual/CHANGELOG" target="_blank" rel="noreferrer"><Sparkles aria-hidden />What’s new</a></DropdownMenu.Item>
        <DropdownMenu.RadioGroup value={chosen} onValueChange={(v) => setTheme(v as Theme)}>
          <DropdownMenu.Label className="px-2 pt-2 pb-0.5 text-xs text-ink-3">Theme</DropdownMenu.Label>
          {themes.map(([value, name, Icon]) => (
            <DropdownMenu.RadioItem key={value} value={value} className="menu-item">
              <Icon aria-hidden />{name}
              <DropdownMenu.ItemIndicator className="ml-auto"><Check aria-hidden /></DropdownMenu.ItemIndicator>
            </DropdownMenu.RadioItem>
          ))}
        </DropdownMenu.RadioGroup>
        <DropdownMenu.Separator className="-mx-1 my-1 border-t border-line" />
        <DropdownMenu.Item className="menu-item" onSelect={() => void signOut()}><LogOut aria-hidden />Sign out</DropdownMenu.Item>
      </DropdownMenu.Content>
    </DropdownMenu.Root>
  )
}

async function signOut() {
  try {
    await unwrap(rest.DELETE('/session'))
    location.assign('/sign-in')
  } catch (error) {
    toast.error(error)
  }
}
