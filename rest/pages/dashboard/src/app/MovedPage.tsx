import { ExternalLink, Truck } from 'lucide-react'
import { PageHead } from '@/parts/Page'
import { switchAccount } from './switchAccount'
import { useViewer } from './viewer'

// MovedPage replaces the screens of an account that has moved to another installation.
export default function MovedPage() {
  const { moved, accounts } = useViewer()
  if (!moved?.movedTo) return null
  const { host, href } = new URL(moved.movedTo)
  const here = accounts.filter((a) => !a.movedTo)
  return (
    <>
      <PageHead title="This account has moved" />
      <div className="grid justify-items-center gap-3 px-6 py-16 text-center text-ink-2">
        <Truck aria-hidden className="text-ink-3" />
        <p className="max-w-[480px] wrap-anywhere"><b className="text-ink">{moved.name}</b> is now at <b className="text-ink">{host}</b>. Sign in there with the same email address.</p>
        <a href={href} className="btn primary">Open {host}<ExternalLink aria-hidden /></a>
        {here.length > 0 && (
          <section className="mt-6 grid justify-items-center gap-2">
            <h2 className="text-xs font-medium text-ink-3">Your other accounts</h2>
            <ul className="grid gap-2">
              {here.map((a) => <li key={a.accountId}><button type="button" className="btn" onClick={() => void switchAccount(a.accountId)}>Switch to {a.name}</button></li>)}
            </ul>
          </section>
        )}
      </div>
    </>
  )
}
