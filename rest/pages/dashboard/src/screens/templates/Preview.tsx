import { useQuery } from '@tanstack/react-query'
import { useDeferredValue, useEffect, useState, type ReactNode } from 'react'
import { unwrap, rest } from '@/api/rest'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { HtmlPreview } from '@/parts/HtmlPreview'
import { SkeletonText } from '@/parts/Skeleton'
import { SegmentedControl } from '@/parts/Tabs'

type View = 'desktop' | 'mobile' | 'text'

// Preview shows the saved draft, or a version, rendered by the server with the sample values.
export function Preview({ id, stamp, values, version = 'draft', note }: { id: string; stamp: string; values: Record<string, unknown>; version?: number | 'draft'; note?: ReactNode }) {
  const [view, setView] = useState<View>('desktop')
  const settled = useSettled(JSON.stringify(values))
  const rendered = useQuery({
    queryKey: ['render', id, stamp, version, settled],
    queryFn: () => unwrap(rest.POST('/templates/{id}/render', { params: { path: { id } }, body: { version, variables: JSON.parse(settled) as Record<string, unknown> } })).then((a) => a.rendered),
    placeholderData: (old) => old,
    staleTime: Infinity,
    retry: false,
  })
  const html = useDeferredValue(rendered.data?.html ?? null)
  const shown = view !== 'text' && rendered.data && !html ? 'text' : view
  return (
    <section aria-label="Preview" className="grid min-h-0 content-start gap-2 self-start lg:sticky lg:top-6">
      <div className="flex flex-wrap items-center gap-2">
        <h2>Preview</h2>
        {note}
        <div className="ml-auto"><SegmentedControl<View> label="View" choices={[{ key: 'desktop', name: 'Desktop' }, { key: 'mobile', name: 'Mobile' }, { key: 'text', name: 'Text' }]} value={view} onChange={setView} /></div>
      </div>
      {rendered.error && <ErrorAlert error={rendered.error} retry={() => void rendered.refetch()} title="Postrider can’t render this" />}
      {!rendered.data && !rendered.error && <SkeletonText />}
      {rendered.data && (
        <div className={`overflow-hidden rounded-card border border-line bg-sunken ${rendered.isPlaceholderData ? 'opacity-60' : ''}`}>
          <p className="border-b border-line bg-surface px-3 py-2 wrap-anywhere"><span className="text-xs text-ink-3">Subject </span><b className="font-medium">{rendered.data.subject ?? 'set when sending'}</b></p>
          {shown === 'text'
            ? <pre tabIndex={0} className="h-[560px] overflow-auto bg-surface p-3 whitespace-pre-wrap wrap-anywhere">{rendered.data.text ?? 'No text part. It’s generated from the HTML.'}</pre>
            : <HtmlPreview html={html ?? ''} label="Rendered email" mobile={shown === 'mobile'} className="h-[560px]" />}
        </div>
      )}
      <p className="text-xs text-ink-3">Rendered by Postrider.</p>
    </section>
  )
}

// useSettled returns a text after it has not changed for a moment.
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), 350)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}
