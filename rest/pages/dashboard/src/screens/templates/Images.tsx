import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ImagePlus, Trash2 } from 'lucide-react'
import { useRef, useState } from 'react'
import { ApiError } from '@/api/errors'
import { unwrap, rest } from '@/api/rest'
import type { components } from '@/api/rest.gen'
import { ConfirmDialog } from '@/parts/ConfirmDialog'
import { Dialog } from '@/parts/Dialog'
import { EmptyState } from '@/parts/EmptyState'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { formatBytes } from '@/parts/file'
import { useWrite } from '@/parts/Form'
import { SkeletonText } from '@/parts/Skeleton'

type Image = components['schemas']['ImageRecord']

const imagesKey = ['template images']
const maxImage = 1 << 20

const readBase64 = (file: File) =>
  new Promise<string>((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''))
    reader.onerror = () => reject(new Error('The file can’t be read.'))
    reader.readAsDataURL(file)
  })

const attribute = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('{', '&#123;')

// tagOf returns the HTML of an image. It fits 600 pixels, the usual width of emails.
export function tagOf(i: Pick<Image, 'url' | 'name' | 'width'>): string {
  const name = i.name.replace(/\.\w+$/, '')
  return `<img src="${i.url}" alt="${attribute(name)}" width="${Math.min(i.width, 600)}" style="max-width:100%;height:auto;border:0">`
}

// ImagesDialog uploads images, and inserts one into the template.
export function ImagesDialog({ insert, onClose }: { insert: (html: string) => void; onClose: () => void }) {
  const client = useQueryClient()
  const list = useQuery({ queryKey: imagesKey, queryFn: () => unwrap(rest.GET('/template-images')).then((a) => a.images) })
  const [removing, setRemoving] = useState<Image | null>(null)
  const input = useRef<HTMLInputElement>(null)
  const upload = useWrite(async (files: File[]) => {
    for (const file of files) {
      if (file.size > maxImage) throw new ApiError(`${file.name} has ${formatBytes(file.size)}. An image can have at most 1 MB.`, { status: 400 })
      await unwrap(rest.POST('/template-images', { body: { name: file.name, content: await readBase64(file) } }))
    }
    await client.invalidateQueries({ queryKey: imagesKey })
  })
  if (removing) {
    return (
      <ConfirmDialog
        title={`Delete ${removing.name || 'the image'}?`} label="Delete image" danger onClose={() => setRemoving(null)}
        run={async () => {
          await unwrap(rest.DELETE('/template-images/{id}', { params: { path: { id: removing.id } } }))
          await client.invalidateQueries({ queryKey: imagesKey })
        }}
      >
        Emails that show it, including sent ones, lose it. This cannot be undone.
      </ConfirmDialog>
    )
  }
  return (
    <Dialog
      title="Insert image" wide onClose={onClose}
      actions={<><button type="button" className="btn" onClick={onClose}>Cancel</button><button type="button" className="btn primary" disabled={upload.busy} onClick={() => input.current?.click()}><ImagePlus aria-hidden />{upload.busy ? 'Uploading…' : 'Upload image'}</button></>}
    >
      <div
        className="grid gap-3" onDragOver={(e) => e.preventDefault()}
        onDrop={(e) => { e.preventDefault(); void upload.run([...e.dataTransfer.files]) }}
      >
        <p className="text-ink-2">PNG, JPEG or GIF, up to 1 MB. Images are public: they load without signing in.</p>
        <input ref={input} type="file" accept="image/png,image/jpeg,image/gif" multiple hidden aria-label="Image files" onChange={(e) => { void upload.run([...(e.target.files ?? [])]); e.target.value = '' }} />
        {upload.error !== null && <ErrorAlert title={upload.fieldErrors.content ? `Not uploaded: ${upload.fieldErrors.content}` : undefined} error={upload.error} />}
        {list.error && <ErrorAlert error={list.error} retry={() => void list.refetch()} />}
        {list.isLoading && <SkeletonText />}
        {list.data?.length === 0 && <EmptyState icon={ImagePlus} title="No images yet">Images you upload will show up here.</EmptyState>}
        <ul className="grid grid-cols-2 gap-3 sm:grid-cols-3">
          {list.data?.map((i) => (
            <li key={i.id} className="grid min-w-0 gap-1.5 rounded-control border border-line p-2">
              <img src={new URL(i.url).pathname} alt="" loading="lazy" className="h-24 w-full rounded-mark bg-white object-contain" />
              <span className="truncate" title={i.name}><bdi>{i.name || 'Untitled'}</bdi></span>
              <span className="text-xs text-ink-3">{i.width} × {i.height}, {formatBytes(i.size)}</span>
              <span className="flex gap-1">
                <button type="button" className="btn sm" aria-label={`Insert ${i.name || 'image'}`} onClick={() => { insert(tagOf(i)); onClose() }}>Insert</button>
                <button type="button" className="btn quiet sm square ml-auto" aria-label={`Delete ${i.name || 'image'}`} onClick={() => setRemoving(i)}><Trash2 aria-hidden /></button>
              </span>
            </li>
          ))}
        </ul>
      </div>
    </Dialog>
  )
}
