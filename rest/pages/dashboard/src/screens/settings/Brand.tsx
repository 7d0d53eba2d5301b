import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ImageUp, X } from 'lucide-react'
import { useState, type FormEvent } from 'react'
import { unwrap, rest } from '@/api/rest'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Field, useWrite } from '@/parts/Form'
import { Card, Detail, DetailList } from '@/parts/Page'
import { SkeletonText } from '@/parts/Skeleton'
import { Time } from '@/parts/Time'
import { readLogo } from './logo'
import { UnsubscribePage } from './UnsubscribePage'

interface Look {
  name: string
  color: string
  logo: string
}

// Brand edits the account's appearance on the unsubscribe page, which is not available in GraphQL.
export function Brand() {
  const { can } = useViewer()
  const brand = useQuery({ queryKey: ['brand'], queryFn: () => unwrap(rest.GET('/account/brand')).then((b) => b.brand) })
  const b = brand.data
  return (
    <Card title="Unsubscribe page" actions={b?.updated_at && <span className="text-xs text-ink-3">changed <Time at={b.updated_at} /></span>}>
      {brand.error ? <ErrorAlert error={brand.error} retry={() => void brand.refetch()} />
        : !b ? <SkeletonText />
          : can('SETTINGS') ? <Edit key={b.updated_at ?? ''} begin={{ name: b.name ?? '', color: b.color ?? '', logo: b.logo ?? '' }} />
            : <DetailList><Detail name="Name">{b.name ?? 'Not set'}</Detail><Detail name="Color">{b.color ?? 'Not set'}</Detail><Detail name="Logo">{b.logo ? <Logo logo={b.logo} /> : 'Not set'}</Detail></DetailList>}
    </Card>
  )
}

const Logo = ({ logo }: { logo: string }) => <img src={`data:image/png;base64,${logo}`} alt="The logo" className="max-h-12 rounded-mark bg-[#ffffff] p-1" />

function Edit({ begin }: { begin: Look }) {
  const client = useQueryClient()
  const { account } = useViewer()
  const [look, setLook] = useState(begin)
  const [bad, setBad] = useState('')
  const set = (change: Partial<Look>) => setLook((old) => ({ ...old, ...change }))
  const save = useWrite(async () => {
    await unwrap(rest.PUT('/account/brand', { body: { name: look.name.trim() || null, color: look.color || null, logo: look.logo || null } }))
    await client.invalidateQueries({ queryKey: ['brand'] })
    toast.success('Unsubscribe page saved')
  })
  async function choose(file: File | undefined) {
    setBad('')
    if (!file) return
    try {
      set({ logo: await readLogo(file) })
    } catch (error) {
      setBad(error instanceof Error ? error.message : 'Can’t read the file.')
    }
  }
  return (
    <div className="grid gap-6 lg:grid-cols-[minmax(0,1fr)_minmax(0,1fr)]">
      <form className="grid content-start gap-3" onSubmit={(e: FormEvent) => { e.preventDefault(); void save.run() }}>
        <Field label="Name" hint="Shown above the text of the page." error={save.fieldErrors.name}>{(p) => <input {...p} value={look.name} onChange={(e) => set({ name: e.target.value })} maxLength={200} placeholder={account?.name} className="input" />}</Field>
        <Field label="Button color" error={save.fieldErrors.color}>
          {(p) => (
            <span className="flex gap-2">
              <input type="color" aria-label="Choose color" value={/^#[0-9a-f]{6}$/i.test(look.color) ? look.color : '#2350d0'} onChange={(e) => set({ color: e.target.value })} className="h-[34px] w-11 flex-none rounded-control border border-line-strong bg-surface p-1" />
              <input {...p} value={look.color} onChange={(e) => set({ color: e.target.value })} pattern="#[0-9a-fA-F]{6}" title="A color such as #2350d0" placeholder="#2350d0" spellCheck={false} className="input font-mono" />
            </span>
          )}
        </Field>
        <Field label="Logo" hint="PNG, up to 64 KB and 1024 × 1024 pixels. Shown up to 48 pixels high on a white background." error={bad || save.fieldErrors.logo}>
          {(p) => (
            <span className="flex flex-wrap items-center gap-2">
              <input {...p} type="file" accept="image/png" className="peer sr-only" onChange={(e) => void choose(e.target.files?.[0])} />
              <label htmlFor={p.id} className="btn cursor-pointer peer-focus-visible:outline-2 peer-focus-visible:outline-accent"><ImageUp aria-hidden />{look.logo ? 'Choose another file' : 'Choose a file'}</label>
              {look.logo && <><Logo logo={look.logo} /><button type="button" className="btn quiet" onClick={() => set({ logo: '' })}><X aria-hidden />Remove logo</button></>}
            </span>
          )}
        </Field>
        {save.error && Object.keys(save.fieldErrors).length === 0 ? <ErrorAlert error={save.error} /> : null}
        <div className="flex gap-2">
          <button type="submit" className="btn" disabled={save.busy}>Save page</button>
          <button type="button" className="btn quiet" disabled={save.busy || JSON.stringify(look) === JSON.stringify(begin)} onClick={() => { setLook(begin); setBad('') }}>Discard changes</button>
        </div>
      </form>
      <UnsubscribePage name={look.name} color={look.color} logo={look.logo} />
    </div>
  )
}
