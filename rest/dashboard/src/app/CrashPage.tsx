import type { ErrorComponentProps } from '@tanstack/react-router'
import { wordsOf } from '@/api/failed'
import { Failure } from '@/parts/Failure'
import { PageHead } from '@/parts/Page'

// CrashPage stands where a page broke. It is part of the first load, for what it is needed most when
// nothing more can be loaded.
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
