import { Dialog } from '@/parts/Dialog'
import { Time } from '@/parts/Time'
import type { Leaving } from './unsaved'

// LeaveDialog asks before a page with unsaved text is left.
export function LeaveDialog({ leaving, drop }: { leaving: Leaving; drop: () => void }) {
  if (leaving.status !== 'blocked') return null
  return (
    <Dialog
      title="Leave without saving?" onClose={leaving.reset}
      actions={<><button type="button" className="btn" onClick={leaving.reset}>Stay here</button><button type="button" className="btn danger" onClick={() => { drop(); leaving.proceed() }}>Leave and discard</button></>}
    >
      <p className="text-ink-2">What you changed here is not saved.</p>
    </Dialog>
  )
}

// ConflictDialog tells the second of two who edit the same.
export function ConflictDialog({ what, at, onClose, mine, theirs }: { what: string; at: string; onClose: () => void; mine: () => void; theirs: () => void }) {
  return (
    <Dialog
      title={`Somebody else has changed this ${what}`} onClose={onClose}
      actions={<><button type="button" className="btn" onClick={onClose}>Go on writing</button><button type="button" className="btn" onClick={theirs}>Discard mine, load theirs</button><button type="button" className="btn danger" onClick={mine}>Save mine over theirs</button></>}
    >
      <p className="text-ink-2">It was saved <Time at={at} />, after you opened it. Nothing of yours is lost: your text is still in the editor.</p>
    </Dialog>
  )
}
