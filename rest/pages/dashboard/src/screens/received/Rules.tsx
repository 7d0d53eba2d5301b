import { Link } from '@tanstack/react-router'
import { useQueryClient } from '@tanstack/react-query'
import { ArrowDown, ArrowUp, CircleSlash, Globe, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { keyOf, useGraphQL } from '@/api/graphql'
import { unwrap, rest } from '@/api/rest'
import { useSearchParams } from '@/app/searchParams'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { Badge } from '@/parts/Badge'
import { EmptyState } from '@/parts/EmptyState'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { useWrite } from '@/parts/Form'
import { Card, PageBody, PageHead } from '@/parts/Page'
import { SkeletonText } from '@/parts/Skeleton'
import { ReceivedDomains, ReceivedRules } from './queries.gen'

interface Rule {
  key: number
  match: string
  action: 'accept' | 'reject'
}

// Rules lists, for each domain, the addresses that receive mail.
export default function Rules() {
  const [address, change] = useSearchParams()
  const domains = useGraphQL(ReceivedDomains, {})
  const list = domains.data?.domains.nodes ?? []
  const chosen = list.find((d) => d.id === address.domain) ?? list.find((d) => d.inboundEnabled) ?? list[0]
  return (
    <>
      <PageHead title="Address rules" up={{ to: '/received', name: 'Received' }} />
      <PageBody narrow>
        {domains.error && <ErrorAlert error={domains.error} retry={() => void domains.refetch()} />}
        {domains.isPending && <SkeletonText />}
        {domains.data && !chosen && <EmptyState icon={Globe} title="No domains yet" action={<Link to="/domains" className="btn">Add a domain</Link>}>Rules belong to a domain that receives mail.</EmptyState>}
        {chosen && (
          <>
            <div className="flex flex-wrap items-center gap-2">
              <label htmlFor="rules-domain" className="font-medium">Domain</label>
              <select id="rules-domain" value={chosen.id} onChange={(e) => change({ domain: e.target.value })} className="h-[34px] max-w-full rounded-control border border-line bg-raised px-2">
                {list.map((d) => <option key={d.id} value={d.id}>{d.name}</option>)}
              </select>
              {!chosen.inboundEnabled && <><Badge tone="warn" icon={CircleSlash}>Receiving is disabled</Badge><Link to={`/domains/${chosen.id}`} className="link">Enable receiving</Link></>}
            </div>
            <Domain key={chosen.id} id={chosen.id} name={chosen.name} />
          </>
        )}
      </PageBody>
    </>
  )
}

function Domain({ id, name }: { id: string; name: string }) {
  const rules = useGraphQL(ReceivedRules, { domainId: id })
  if (rules.error) return <ErrorAlert error={rules.error} retry={() => void rules.refetch()} />
  if (!rules.data) return <SkeletonText />
  const found = rules.data.addressRules
  const key = JSON.stringify(found)
  return <Editor key={key} id={id} name={name} start={(found?.rules ?? []).map((r, i) => ({ key: i, match: r.match, action: r.action === 'ACCEPT' ? 'accept' : 'reject' }))} all={found?.catchAll ?? true} />
}

function Editor({ id, name, start, all }: { id: string; name: string; start: Rule[]; all: boolean }) {
  const viewer = useViewer()
  const queries = useQueryClient()
  const [rules, setRules] = useState(start)
  const [catchAll, setCatchAll] = useState(all)
  const may = viewer.can('WRITE')
  const changed = catchAll !== all || JSON.stringify(rules) !== JSON.stringify(start)
  const write = useWrite(async () => {
    await unwrap(rest.PUT('/domains/{id}/address-rules', { params: { path: { id } }, body: { catch_all: catchAll, rules: rules.map(({ match, action }) => ({ match: match.trim(), action })) } }))
    await queries.invalidateQueries({ queryKey: keyOf(ReceivedRules) })
    toast.success(`Rules for ${name} saved`)
  })
  const put = (i: number, more: Partial<Rule>) => setRules(rules.map((r, j) => (j === i ? { ...r, ...more } : r)))
  function move(i: number, by: number) {
    const next = [...rules]
    const [rule] = next.splice(i, 1)
    if (rule) next.splice(i + by, 0, rule)
    setRules(next)
  }
  return (
    <form onSubmit={(e) => { e.preventDefault(); void write.run() }} className="grid gap-4">
      <p className="text-ink-2">The first matching rule applies; <code>*</code> matches any characters. Mail to other addresses is rejected during SMTP, so the sender is notified. <code>postmaster@{name}</code> is always accepted.</p>
      <Card title="Rules" padded={false} actions={may && <button type="button" className="btn sm" onClick={() => setRules([...rules, { key: Math.max(-1, ...rules.map((r) => r.key)) + 1, match: '', action: 'accept' }])}><Plus aria-hidden />Add a rule</button>}>
        {rules.length === 0 && <p className="p-4 text-ink-3">No rules: the setting below applies to every address.</p>}
        <ol>
          {rules.map((rule, i) => (
            <li key={rule.key} className="flex flex-wrap items-center gap-2 border-b border-line-soft px-4 py-2 last:border-0">
              <input aria-label={`Address pattern ${i + 1}`} className="input min-w-0 flex-[1_1_140px] font-mono" required maxLength={64} readOnly={!may} placeholder="support or sales*" value={rule.match} onChange={(e) => put(i, { match: e.target.value })} aria-invalid={write.fieldErrors[`rules[${i}].match`] ? true : undefined} />
              <span className="max-w-40 truncate text-ink-3">@{name}</span>
              <select aria-label={`Action for pattern ${i + 1}`} disabled={!may} value={rule.action} onChange={(e) => put(i, { action: e.target.value as Rule['action'] })} className="h-[34px] rounded-control border border-line bg-raised px-2">
                <option value="accept">Accept</option>
                <option value="reject">Reject</option>
              </select>
              {may && (
                <span className="ml-auto flex">
                  <button type="button" className="btn quiet sm square" aria-label={`Move rule ${i + 1} up`} disabled={i === 0} onClick={() => move(i, -1)}><ArrowUp aria-hidden /></button>
                  <button type="button" className="btn quiet sm square" aria-label={`Move rule ${i + 1} down`} disabled={i === rules.length - 1} onClick={() => move(i, 1)}><ArrowDown aria-hidden /></button>
                  <button type="button" className="btn quiet sm square" aria-label={`Remove rule ${i + 1}`} onClick={() => setRules(rules.filter((_, j) => j !== i))}><Trash2 aria-hidden /></button>
                </span>
              )}
            </li>
          ))}
        </ol>
        <label className="flex items-center gap-2 border-t border-line px-4 py-3"><input type="checkbox" disabled={!may} checked={catchAll} onChange={(e) => setCatchAll(e.target.checked)} className="accent-accent-fill" />Accept all other addresses</label>
      </Card>
      {write.error !== null && <ErrorAlert error={write.error} retry={() => void write.run()} />}
      {may && (
        <div className="flex gap-2">
          <button type="submit" className="btn primary" disabled={!changed || write.busy}>Save</button>
          {changed && <button type="button" className="btn" onClick={() => { setRules(start); setCatchAll(all) }}>Discard changes</button>}
        </div>
      )}
    </form>
  )
}
