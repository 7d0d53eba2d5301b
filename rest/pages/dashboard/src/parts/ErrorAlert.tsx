import { CircleAlert, RotateCw } from 'lucide-react'
import { ApiError, errorMessage } from '@/api/errors'

// ErrorAlert shows an error message, with a button to try again.
export function ErrorAlert({ error, retry, label = 'Try again', title }: { error: unknown; retry?: () => void; label?: string; title?: string }) {
  const apiError = error instanceof ApiError ? error : null
  return (
    <div role="alert" className="flex items-start gap-2 rounded-control bg-bad-soft px-3 py-2 text-bad">
      <CircleAlert aria-hidden className="mt-0.5" />
      <div className="min-w-0 flex-1">
        {title && <p className="font-medium">{title}</p>}
        <p className="wrap-anywhere">{errorMessage(error)}</p>
        {apiError && Object.entries(apiError.fields).map(([field, reason]) => <p key={field} className="wrap-anywhere"><code>{field}</code> {reason}</p>)}
        {apiError?.upgradeUrl && <p><a className="link under !text-bad" href={apiError.upgradeUrl}>Upgrade plan</a></p>}
        {apiError?.requestId && <p className="mt-1 text-xs opacity-80">Request ID <code>{apiError.requestId}</code></p>}
      </div>
      {retry && <button type="button" className="btn sm" onClick={retry}><RotateCw aria-hidden />{label}</button>}
    </div>
  )
}
