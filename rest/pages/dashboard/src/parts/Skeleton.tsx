// Skeletons are placeholders for rows and text that are loading.
export function SkeletonRows({ rows = 10 }: { rows?: number }) {
  return (
    <div aria-busy="true" aria-label="Loading">
      {Array.from({ length: rows }, (_, i) => (
        <div key={i} className="flex h-[var(--row)] items-center gap-6 border-b border-line-soft px-4 md:px-6">
          <i className="skel w-20" />
          <i className={`skel ${['w-52', 'w-64', 'w-44'][i % 3]}`} />
          <i className="skel ml-auto w-12" />
        </div>
      ))}
    </div>
  )
}

export function SkeletonText({ lines = 4 }: { lines?: number }) {
  return (
    <div aria-busy="true" aria-label="Loading" className="grid gap-3 py-1">
      {Array.from({ length: lines }, (_, i) => <i key={i} className={`skel ${['w-3/4', 'w-full', 'w-1/2'][i % 3]}`} />)}
    </div>
  )
}
