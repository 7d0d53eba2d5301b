import { Link } from '@tanstack/react-router'
import { Compass } from 'lucide-react'
import { PageHead } from '@/parts/Page'

// Pages that stand for any screen.
export default function MissingPage() {
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
