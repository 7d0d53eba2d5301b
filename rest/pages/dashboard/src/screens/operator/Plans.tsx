import { Layers } from 'lucide-react'
import { useState } from 'react'
import { DataTable, type Column } from '@/parts/DataTable'
import { EmptyState } from '@/parts/EmptyState'
import { count, usePlans, type Plan } from './data'
import { PlanDialog } from './PlanDialog'

const words = (p: Plan) => [p.selfService ? 'customers can choose it' : 'assigned by operators only', ...(p.sandboxed ? ['sandboxed'] : []), ...(p.overage ? ['overage is charged'] : [])].join(', ')

export function Plans() {
  const plans = usePlans()
  const [changing, setChanging] = useState<Plan | null>(null)
  const columns: Column<Plan>[] = [
    { key: 'name', head: 'Name', width: '20%', grows: true, cell: (p) => <b className="font-medium">{p.name}</b> },
    { key: 'month', head: 'Emails per month', width: '130px', right: true, cell: (p) => count(p.monthlyEmails) },
    { key: 'day', head: 'Per day', width: '110px', right: true, from: 'mid', cell: (p) => count(p.dailyEmails) },
    { key: 'included', head: 'Included', width: '110px', right: true, from: 'wide', cell: (p) => count(p.includedEmails, '–') },
    { key: 'domains', head: 'Domains', width: '90px', right: true, from: 'mid', cell: (p) => p.maxDomains.toLocaleString() },
    { key: 'rate', head: 'Requests/s', width: '100px', right: true, from: 'wide', cell: (p) => p.requestsPerSecond.toLocaleString() },
    { key: 'words', head: 'Rules', from: 'mid', cell: (p) => <span className="text-ink-2">{words(p)}</span> },
    { key: 'act', head: <span className="sr-only">Actions</span>, width: '96px', right: true, cell: (p) => <button type="button" className="btn sm" aria-label={`Edit ${p.name}`} onClick={() => setChanging(p)}>Edit</button> },
  ]
  return (
    <>
      <DataTable
        label="Plans" rows={plans.data ?? []} columns={columns} idOf={(p) => p.id} nameOf={(p) => p.name} loading={plans.isPending} error={plans.error} retry={() => void plans.refetch()}
        empty={<EmptyState icon={Layers} title="No plans">Plans are created when Postrider is set up.</EmptyState>}
      />
      {changing && <PlanDialog plan={changing} onClose={() => setChanging(null)} />}
    </>
  )
}
