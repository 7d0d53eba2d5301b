import { CircleAlert, RotateCw } from 'lucide-react'
import { Failed, wordsOf } from '@/api/failed'

// Failure says what went wrong in the words of who refused, with a button to do it again.
export function Failure({ error, retry, label = 'Try again', what }: { error: unknown; retry?: () => void; label?: string; what?: string }) {
  const known = error instanceof Failed ? error : null
  return (
    <div role="alert" className="flex items-start gap-2 rounded-control bg-bad-soft px-3 py-2 text-bad">
      <CircleAlert aria-hidden className="mt-0.5" />
      <div className="min-w-0 flex-1">
        {what && <p className="font-medium">{what}</p>}
        <p className="wrap-anywhere">{wordsOf(error)}</p>
        {known && Object.entries(known.fields).map(([field, why]) => <p key={field} className="wrap-anywhere"><code>{field}</code> {why}</p>)}
        {known?.upgradeUrl && <p><a className="link under !text-bad" href={known.upgradeUrl}>Raise the limit</a></p>}
        {known?.requestId && <p className="mt-1 text-xs opacity-80">Request <code>{known.requestId}</code></p>}
      </div>
      {retry && <button type="button" className="btn sm" onClick={retry}><RotateCw aria-hidden />{label}</button>}
    </div>
  )
}
