import { CircleX, HeartPulse } from 'lucide-react'
import { useGraphQL } from '@/api/graphql'
import { Badge } from '@/parts/Badge'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Card, PageBody } from '@/parts/Page'
import { SkeletonText } from '@/parts/Skeleton'
import { Time } from '@/parts/Time'
import { Grid } from './Grid'
import { OperatorProcesses } from './queries.gen'

const roles: Record<string, string> = { accepts: 'accepts mail', delivers: 'delivers', webhooks: 'sends webhooks' }

const kinds = { PROCESS: 'Process killed or frozen', CONNECTION: 'Connections broke' }

// Processes lists the processes of the installation, each with its roles and version, and the faults of a day.
export function Processes() {
  const read = useGraphQL(OperatorProcesses, {}, { refetchInterval: 10_000 })
  const list = read.data?.operator?.processes ?? []
  const faults = read.data?.operator?.faults ?? []
  const versions = new Set(list.filter((p) => p.alive).map((p) => p.version))
  return (
    <PageBody>
      {read.error && <ErrorAlert error={read.error} retry={() => void read.refetch()} />}
      {read.isPending && <SkeletonText lines={4} />}
      {read.data && (
        <Card title="Processes" padded={false} footer={versions.size > 1 ? 'Several versions are running: an upgrade is in progress or incomplete.' : undefined}>
          <Grid label="Processes" heads={['Name', 'Status', 'Version', 'Roles', 'Started', 'Last seen']}>
            {list.map((p) => [
              <b key="n" className="font-medium wrap-anywhere">{p.name}</b>,
              p.alive ? <Badge key="s" tone="ok" icon={HeartPulse}>Running</Badge> : <Badge key="s" tone="bad" icon={CircleX}>Stopped unexpectedly</Badge>,
              <code key="v" className="wrap-anywhere">{p.version}</code>, <span key="r" className="block min-w-40">{p.roles.map((r) => roles[r] ?? r).join(', ') || 'nothing'}</span>, <Time key="a" at={p.startedAt} />, <Time key="b" at={p.seenAt} />,
            ])}
          </Grid>
        </Card>
      )}
      {faults.length > 0 && (
        <Card title="Emails in doubt" padded={false} footer="Faults of the last 24 hours. These recipients may have received an email twice, with the same Message-ID.">
          <Grid label="Faults" heads={['Time', 'Process', 'Fault', 'Recipients in doubt']} right={[3]}>
            {faults.map((f) => [
              <Time key="a" at={f.at} />, <b key="n" className="font-medium wrap-anywhere">{f.node ?? 'Unknown'}</b>,
              <span key="k" className="block min-w-40">{kinds[f.kind]}</span>, f.inDoubt.toLocaleString(),
            ])}
          </Grid>
        </Card>
      )}
    </PageBody>
  )
}
