import { CircleAlert, CircleCheck, X } from 'lucide-react'
import { useEffect } from 'react'
import { useStore } from '@/api/store'
import { dismissToast, toasts, type Toast } from '../toasts'

export default function Toasts() {
  const list = useStore(toasts)
  return (
    <div role="status" aria-live="polite" className="pointer-events-none fixed right-4 bottom-4 left-4 z-[80] grid justify-items-end gap-2">
      {list.map((t) => <ToastItem key={t.id} toast={t} />)}
    </div>
  )
}

function ToastItem({ toast: t }: { toast: Toast }) {
  useEffect(() => {
    const timer = setTimeout(() => dismissToast(t.id), t.isError || t.action ? 12_000 : 5_000)
    return () => clearTimeout(timer)
  }, [t])
  return (
    <div className="pointer-events-auto flex min-h-11 w-full max-w-[400px] animate-pop items-center gap-2 rounded-card bg-raised py-2 pr-2 pl-3 shadow-pop">
      {t.isError ? <CircleAlert aria-hidden className="text-bad" /> : <CircleCheck aria-hidden className="text-ok" />}
      <span className="min-w-0 flex-1 wrap-anywhere">{t.text}</span>
      {t.action && (
        <button type="button" className="btn sm" onClick={() => { t.action?.run(); dismissToast(t.id) }}>{t.action.label}</button>
      )}
      <button type="button" className="btn quiet sm square" aria-label="Dismiss" onClick={() => dismissToast(t.id)}><X aria-hidden /></button>
    </div>
  )
}
