import { Link } from '@tanstack/react-router'
import { CloudOff, FlaskConical, TriangleAlert } from 'lucide-react'
import { connection } from '@/api/connection'
import { switchMode, testMode } from '@/api/mode'
import { useStore } from '@/api/store'
import { useViewer } from '../viewer'

// Banners shows notices that apply to every page.
export function Banners() {
  const viewer = useViewer()
  const state = useStore(connection)
  return (
    <div role="status" aria-live="polite" className="flex-none text-xs">
      {testMode && (
        <p className="flex min-h-9 items-center gap-2 border-b-2 border-warn bg-warn-soft px-4 py-1 font-medium text-warn md:px-6">
          <FlaskConical aria-hidden className="size-3.5 flex-none" /><span>Test mode: emails are captured, not sent. Data is separate from live mode and is deleted after 7 days.</span>
          <button type="button" className="link under ml-auto flex-none !text-warn" onClick={() => switchMode(false)}>Switch to live mode</button>
        </p>
      )}
      {state === 'lost' && <p className="flex min-h-8 items-center gap-2 py-1 border-b border-line bg-warn-soft px-4 text-warn md:px-6"><CloudOff aria-hidden className="size-3.5" />Connection lost. Retrying… Your unsaved changes are kept.</p>}
      {viewer.account?.suspended && <p className="flex min-h-8 items-center gap-2 py-1 border-b border-line bg-bad-soft px-4 text-bad md:px-6"><TriangleAlert aria-hidden className="size-3.5" />This account is suspended and can’t send email. Contact your administrator.</p>}
      {viewer.development && (
        <p className="flex min-h-8 items-center gap-2 py-1 border-b border-line bg-warn-soft px-4 text-warn md:px-6">
          <span>Development mode: emails don’t leave this machine.</span>
          {viewer.development.inboxUrl && <a href={new URL(viewer.development.inboxUrl, location.href).pathname} className="link under ml-auto flex-none !text-warn">Open inbox</a>}
        </p>
      )}
      {!viewer.account && !viewer.moved && <p className="flex min-h-8 items-center gap-2 py-1 border-b border-line bg-warn-soft px-4 text-warn md:px-6">You don’t have an account yet. <Link to="/" className="under">Create one</Link></p>}
    </div>
  )
}
