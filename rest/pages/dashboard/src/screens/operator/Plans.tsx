import { Layers } from 'lucide-react'
import { useState } from 'react'
import { planNumbers, type Plan } from '@/api/plan'
import { DataTable, type Column } from '@/parts/DataTable'
import { EmptyState } from '@/parts/EmptyState'
import { count, usePlans } from './data'
import { PlanDialog } from './PlanDialog'

const words = (p: Plan) => [p.selfService ? 'customers can choose it' : 'assigned by operators only', ...(p.sandboxed ? ['sandboxed'] : []), ...(p.overage ? ['overage is charged'] : [])].join(', ')

export function Plans() {
  const plans = usePlans()
  const [changing, setChanging] = useState<Plan | null>(null)
  const columns: Column<Plan>[] = [
    { key: 'name', head: 'Name', width: '20%', grows: true, cell: (p) => <b className="font-medium">{p.name}</b> },
    ...planNumbers.flatMap(({ field, column }): Column<Plan>[] => (column ? [{ key: field, head: column.head, width: column.width, right: true, from: column.from, cell: (p) => count(p[field], column.none) }] : [])),
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
