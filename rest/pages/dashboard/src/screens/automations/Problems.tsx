import { CircleAlert, TriangleAlert } from 'lucide-react'
import type { Problem } from './definition'

// ProblemList lists the problems of a definition; with `go` each links to its position.
export function ProblemList({ problems, line, go }: { problems: Problem[]; line?: (p: Problem) => number | null; go?: (p: Problem) => void }) {
  return (
    <ul className="grid gap-1.5">
      {problems.map((p, i) => {
        const bad = p.severity === 'error'
        const Icon = bad ? CircleAlert : TriangleAlert
        const at = line?.(p)
        const text = <><Icon aria-hidden className="mt-0.5" /><span className="min-w-0 flex-1 text-left wrap-anywhere"><b className="font-medium">{bad ? 'Error' : 'Warning'}</b> {p.path && <code>{p.path}</code>} {p.message}</span>{at && <span className="flex-none text-xs">line {at}</span>}</>
        const look = `flex w-full items-start gap-2 rounded-control px-3 py-2 ${bad ? 'bg-bad-soft text-bad' : 'bg-warn-soft text-warn'}`
        return <li key={i}>{go ? <button type="button" className={`${look} hover:underline`} onClick={() => go(p)}>{text}</button> : <p className={look}>{text}</p>}</li>
      })}
    </ul>
  )
}
