import { Link } from '@tanstack/react-router'
import { Compass } from 'lucide-react'
import { PageHead } from '@/parts/Page'

// NotFoundPage is shown for unknown paths and for screens that the user cannot access.
export default function NotFoundPage() {
  return (
    <>
      <PageHead title="Not found" />
      <div className="grid justify-items-center gap-3 px-6 py-16 text-center text-ink-2">
        <Compass aria-hidden className="text-ink-3" />
        <p>Page not found, or you don’t have access.</p>
        <Link to="/" className="btn">Go to Start</Link>
      </div>
    </>
  )
}
