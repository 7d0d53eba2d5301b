import { Link, type ErrorComponentProps } from '@tanstack/react-router'
import { Compass } from 'lucide-react'
import { wordsOf } from '@/api/failed'
import { Failure } from '@/parts/Failure'
import { PageHead } from '@/parts/Page'

// Pages that stand for any screen.
export function MissingPage() {
  return (
    <>
      <PageHead title="Not found" />
      <div className="grid justify-items-center gap-3 px-6 py-16 text-center text-ink-2">
        <Compass aria-hidden className="text-ink-3" />
        <p>There is no page here, or your role or a module that is switched off keeps it from you.</p>
        <Link to="/" className="btn">Go to the start</Link>
      </div>
    </>
  )
}

export function CrashPage({ error, reset }: ErrorComponentProps) {
  // A part of the app that is gone: the service was upgraded since this page was loaded.
  const stale = /dynamically imported|module script|Failed to fetch/i.test(wordsOf(error))
  return (
    <>
      <PageHead title={stale ? 'A new version is there' : 'This page broke'} />
      <div className="p-6">
        <Failure error={stale ? new Error('The service was upgraded since you opened this page.') : error} retry={stale ? () => location.reload() : reset} label={stale ? 'Reload' : 'Try again'} />
      </div>
    </>
  )
}
