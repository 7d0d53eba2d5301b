import { Dialog } from '@/parts/Dialog'
import type { Leaving } from './unsaved'

// LeaveDialog asks before the user leaves a page with unsaved changes.
export function LeaveDialog({ leaving, drop }: { leaving: Leaving; drop: () => void }) {
  if (leaving.status !== 'blocked') return null
  return (
    <Dialog
      title="Leave without saving?" onClose={leaving.reset}
      actions={<><button type="button" className="btn" onClick={leaving.reset}>Stay</button><button type="button" className="btn danger" onClick={() => { drop(); leaving.proceed() }}>Discard and leave</button></>}
    >
      <p className="text-ink-2">Your changes aren’t saved.</p>
    </Dialog>
  )
}
