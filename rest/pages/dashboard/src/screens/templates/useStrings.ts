import { useState } from 'react'
import { download } from '@/api/download'
import { ApiError } from '@/api/errors'
import { unwrap, rest } from '@/api/rest'
import { toast } from '@/app/toasts'
import { saveFile } from '@/parts/file'
import type { Template } from './draft'
import { languageName } from './locales'
import type { Editor } from './useEditor'

// unitError names the units in error.
function unitError(e: ApiError): Error {
  const wrong = Object.entries(e.fields).filter(([path]) => path.startsWith('xliff.')).map(([path, reason]) => `${path.slice('xliff.'.length)} ${reason}`)
  return wrong.length === 0 ? e : new Error(`Not imported: ${wrong.slice(0, 3).join('; ')}${wrong.length > 3 ? `; and ${wrong.length - 3} more` : ''}`)
}

// useStrings exports the texts of a template for translation tools, and imports translations. Both save the draft first.
export function useStrings(template: Template, editor: Editor, show: (locale: string) => void) {
  const [busy, setBusy] = useState(false)
  async function run(act: () => Promise<void>) {
    setBusy(true)
    try {
      if (!editor.dirty || (await editor.save())) await act()
    } catch (e) {
      toast.error(e instanceof ApiError ? unitError(e) : e)
    } finally {
      setBusy(false)
    }
  }
  const save = (locale: string) => void run(async () => {
    const file = await download(`/templates/${template.id}/strings?locale=${encodeURIComponent(locale)}`, new AbortController().signal, () => undefined)
    saveFile([file.blob], `${template.alias ?? template.id}.${locale}.xlf`, 'application/xliff+xml')
  })
  const load = (file: File) => void run(async () => {
    const answer = await unwrap(rest.POST('/templates/{id}/strings', { params: { path: { id: template.id } }, body: { xliff: await file.text() } }))
    editor.took(answer.template)
    show(answer.locale)
    const left = answer.untranslated.length
    toast.success(left === 0 ? `${languageName(answer.locale)} imported` : `${languageName(answer.locale)} imported, ${left} ${left === 1 ? 'text' : 'texts'} not translated`)
  })
  return { save, load, busy }
}

export type Strings = ReturnType<typeof useStrings>
