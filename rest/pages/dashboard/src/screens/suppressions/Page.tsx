import { Plus, Upload } from 'lucide-react'
import { useState } from 'react'
import { useQueryClient } from '@tanstack/react-query'
import { useSearchParams } from '@/app/searchParams'
import { useViewer } from '@/app/viewer'
import { ExportButton } from '@/parts/ExportButton'
import { PageHead } from '@/parts/Page'
import { Tabs } from '@/parts/Tabs'
import { Add } from './Add'
import { Import } from './Import'
import { List } from './List'
import { OptOuts } from './OptOuts'
import { SuppressionList } from './queries.gen'

export default function Page() {
  const [address, change] = useSearchParams()
  const { can } = useViewer()
  const queries = useQueryClient()
  const [dialog, setDialog] = useState<'add' | 'import'>()
  const tab = address.tab === 'opt-outs' ? 'opt-outs' : 'all'
  const again = () => void queries.invalidateQueries({ queryKey: [SuppressionList.name] })
  return (
    <>
      <PageHead title="Suppressions">
        {tab === 'all' && <ExportButton noun="suppressions" path="/suppressions/export" filter={{ q: address.q }} />}
        {can('WRITE') && (
          <>
            <button type="button" className="btn max-sm:hidden" onClick={() => setDialog('import')}><Upload aria-hidden />Import CSV</button>
            <button type="button" className="btn square sm:hidden" aria-label="Import CSV" onClick={() => setDialog('import')}><Upload aria-hidden /></button>
            <button type="button" className="btn primary" onClick={() => setDialog('add')}><Plus aria-hidden />Suppress</button>
          </>
        )}
      </PageHead>
      <div className="flex min-h-0 flex-1 flex-col [&>[role=tabpanel]]:flex [&>[role=tabpanel]]:min-h-0 [&>[role=tabpanel]]:flex-1 [&>[role=tabpanel]]:flex-col">
        <Tabs label="Suppressions" value={tab} onChange={(key) => change({ tab: key === 'all' ? undefined : key, q: undefined, open: undefined })} tabs={[{ key: 'all', name: 'All emails' }, { key: 'opt-outs', name: 'Category opt-outs' }]}>
          {tab === 'all' ? <List add={can('WRITE') ? () => setDialog('add') : undefined} /> : <OptOuts />}
        </Tabs>
      </div>
      {(dialog === 'add' || (address.add && can('WRITE'))) && <Add onClose={() => { setDialog(undefined); change({ add: undefined }) }} added={again} />}
      {dialog === 'import' && <Import onClose={() => setDialog(undefined)} done={again} />}
    </>
  )
}
