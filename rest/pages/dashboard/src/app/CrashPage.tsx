import type { ErrorComponentProps } from '@tanstack/react-router'
import { errorMessage } from '@/api/errors'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { PageHead } from '@/parts/Page'

// CrashPage replaces a page that failed to render. It is part of the first load, because it is needed
// most when nothing else can be loaded.
export function CrashPage({ error, reset }: ErrorComponentProps) {
  // A chunk no longer exists: the server was upgraded since this page was loaded.
  const stale = /dynamically imported|module script|Failed to fetch/i.test(errorMessage(error))
  return (
    <>
      <PageHead title={stale ? 'A new version is available' : 'This page failed to load'} />
      <div className="p-6">
        <ErrorAlert error={stale ? new Error('Postrider was upgraded since you opened this page. Reload to continue.') : error} retry={stale ? () => location.reload() : reset} label={stale ? 'Reload' : 'Try again'} />
      </div>
    </>
  )
}
