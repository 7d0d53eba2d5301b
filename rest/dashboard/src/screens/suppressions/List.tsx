import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Ban, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { usePages } from '@/api/graphql'
import { useLive } from '@/api/live'
import { done, rest } from '@/api/rest'
import { useAddress } from '@/app/address'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { Badge } from '@/parts/Badge'
import { Confirm } from '@/parts/Confirm'
import { DataTable, NewRows, type Column } from '@/parts/DataTable'
import { EmptyState } from '@/parts/EmptyState'
import { FilterBar, termOf, terms } from '@/parts/FilterBar'
import { Id } from '@/parts/Copy'
import { neighbours, Sheet, Split } from '@/parts/Sheet'
import { Time } from '@/parts/Time'
import { erased, isReason, reasons } from './look'
import { SuppressionList, type SuppressionReason, type SuppressionRowFragment } from './queries.gen'
import { SuppressionView } from './View'

type Row = SuppressionRowFragment

const choices = [{ field: 'reason', label: 'Any reason', values: (Object.keys(reasons) as SuppressionReason[]).map((r) => ({ value: r.toLowerCase(), name: reasons[r].word })) }]

const columns: Column<Row>[] = [
  { key: 'reason', head: 'Reason', width: '132px', cell: (s) => { const look = reasons[s.reason]; return <span title={look.means}><Badge tone={look.tone} icon={look.icon}>{look.word}</Badge></span> } },
  { key: 'email', head: 'Address', grows: true, cell: (s) => <Link to="." search={((old: object) => ({ ...old, open: s.id })) as never} className="block truncate font-medium" title={s.email ?? erased}>{s.email ?? <i className="text-ink-3">{erased}</i>}</Link> },
  { key: 'source', head: 'Source', width: '300px', from: 'mid', cell: (s) => (s.emailId ? <Link to={`/emails/${s.emailId}`} className="link block truncate font-mono text-xs" title="The email that led to it">{s.emailId}</Link> : <span className="text-ink-3">No email</span>) },
  { key: 'at', head: 'Since', width: '112px', right: true, from: 'slim', cell: (s) => <span className="text-xs text-ink-3"><Time at={s.createdAt} /></span> },
]

export function List({ add }: { add?: () => void }) {
  const [address, change] = useAddress()
  const { can, has } = useViewer()
  const queries = useQueryClient()
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [asking, setAsking] = useState(false)
  const [fresh, setFresh] = useState<string[]>([])
  const q = address.q ?? ''
  const reason = termOf(q, 'reason').toUpperCase()
  const words = terms(q).filter((t) => t.field !== 'reason').map((t) => t.text)
  const wrong = reason && !isReason(reason) ? `There is no reason “${reason.toLowerCase()}”: bounce, failure, complaint, unsubscribe or manual.` : words.length > 1 ? 'One address at a time.' : undefined
  const list = usePages(SuppressionList, { first: 100, email: words[0] ?? null, reason: isReason(reason) ? reason : null }, (d) => d.suppressions, { keep: true, enabled: !wrong })
  // Those that were added here are in the list already.
  useLive(['suppression.added'], (e) => setFresh((old) => [...new Set([...old, String((e.data as { email?: string }).email ?? e.id)])]))
  const waiting = q ? 0 : fresh.filter((email) => !list.rows.some((s) => s.email === email)).length
  const open = address.open
  const go = (id: string | null) => change({ open: id ?? undefined }, !open)
  const show = () => { setFresh([]); void list.refetch() }

  async function removeAll() {
    let gone = 0
    try {
      for (const id of selected) {
        await done(rest.DELETE('/suppressions/{id}', { params: { path: { id } } }))
        gone++
        setSelected((old) => new Set([...old].filter((x) => x !== id)))
      }
    } finally {
      void queries.invalidateQueries({ queryKey: [SuppressionList.name] })
      if (gone) toast.ok(`${gone} ${gone === 1 ? 'address' : 'addresses'} may be written to again`)
    }
  }
  const empty = q
    ? <EmptyState icon={Ban} title="Nothing matches" action={<button type="button" className="btn" onClick={() => change({ q: undefined })}>Clear the filter</button>}>Addresses are found when they are written in full, in any case.</EmptyState>
    : <EmptyState icon={Ban} title="Nobody is suppressed" action={add && <button type="button" className="btn" onClick={add}><Plus aria-hidden />Suppress an address</button>}>Addresses that bounce or complain, and people who unsubscribe, get here by themselves. An email to one of them is not sent.</EmptyState>
  return (
    <>
      <Split sheet={open && <Sheet label="Suppression" head={<Id id={open} />} page={`/suppressions/${open}`} onClose={() => go(null)} {...neighbours(list.rows.map((s) => s.id), open, go)}><SuppressionView key={open} id={open} removed={() => go(null)} /></Sheet>}>
        <FilterBar placeholder="A whole address, or reason:" choices={choices} wrong={wrong} />
        <DataTable
          label="Suppressions" rows={list.rows} columns={has('sending') ? columns : columns.filter((c) => c.key !== 'source')} idOf={(s) => s.id} nameOf={(s) => s.email ?? erased} open={open} onOpen={go} loading={list.isPending && !wrong} error={list.error} retry={() => void list.refetch()}
          hasMore={list.hasNextPage} more={() => !list.isFetching && void list.fetchNextPage()} empty={wrong ? null : empty} above={<NewRows count={waiting} show={show} />} selected={can('WRITE') ? selected : undefined} onSelect={can('WRITE') ? setSelected : undefined}
        />
        {selected.size > 0 && (
          <div role="toolbar" aria-label="With the selection" className="flex flex-none items-center gap-2 border-t border-line bg-raised px-4 py-2 md:px-6">
            <span aria-live="polite">{selected.size} selected</span>
            <button type="button" className="btn sm" onClick={() => setAsking(true)}><Trash2 aria-hidden />Remove</button>
            <button type="button" className="btn quiet sm ml-auto" onClick={() => setSelected(new Set())}>Clear</button>
          </div>
        )}
      </Split>
      {asking && (
        <Confirm title={`Remove ${selected.size} ${selected.size === 1 ? 'suppression' : 'suppressions'}?`} label="Remove" danger onClose={() => setAsking(false)} run={removeAll}>
          <p>Emails may be sent to these addresses again. Write to people who complained or unsubscribed only when they have asked for it.</p>
        </Confirm>
      )}
    </>
  )
}
