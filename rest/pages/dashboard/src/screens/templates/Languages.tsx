import { Download, Plus, Trash2, TriangleAlert, Upload } from 'lucide-react'
import { useRef, useState } from 'react'
import { ConfirmDialog } from '@/parts/ConfirmDialog'
import { Dialog } from '@/parts/Dialog'
import { Field } from '@/parts/Form'
import { missingParts, partsOf, type Draft } from './draft'
import { canonicalLocale, languageName, locales } from './locales'
import type { Strings } from './useStrings'

interface Props {
  draft: Draft
  strings: Strings
  // empty: that of the template
  locale: string
  locked: boolean
  show: (locale: string) => void
  change: (more: Partial<Draft>) => void
}

const partNames = { subject: 'subject', html: 'HTML', text: 'text' }

// Languages switches the language that is edited, and adds and removes translations.
export function Languages({ draft, strings, locale, locked, show, change }: Props) {
  const files = useRef<HTMLInputElement>(null)
  const [asks, setAsks] = useState<'add' | 'remove' | null>(null)
  if (locked && draft.translations.length === 0) return null
  const missing = locale ? missingParts(draft, locale) : []
  function remove() {
    change({ translations: draft.translations.filter((t) => t.locale !== locale) })
    show('')
    return Promise.resolve()
  }
  return (
    <div className="flex flex-wrap items-center gap-2">
      <label className="flex items-center gap-2">Language
        <select className="input w-auto" value={locale} onChange={(e) => show(e.target.value)}>
          <option value="">Default</option>
          {draft.translations.map((t) => <option key={t.locale} value={t.locale}>{languageName(t.locale)}{missingParts(draft, t.locale).length > 0 ? ', incomplete' : ''}</option>)}
        </select>
      </label>
      {!locked && <button type="button" className="btn sm" onClick={() => setAsks('add')}><Plus aria-hidden />Add language</button>}
      {!locked && locale && <button type="button" className="btn sm" onClick={() => setAsks('remove')}><Trash2 aria-hidden />Remove {locale}</button>}
      {locale && <button type="button" className="btn sm" onClick={() => strings.save(locale)}><Download aria-hidden />Export</button>}
      {!locked && <button type="button" className="btn sm" disabled={strings.busy} onClick={() => files.current?.click()}><Upload aria-hidden />{strings.busy ? 'Importing…' : 'Import'}</button>}
      <input ref={files} type="file" accept=".xlf,.xliff,application/xliff+xml" hidden aria-label="XLIFF file" onChange={(e) => { const [file] = e.target.files ?? []; if (file) strings.load(file); e.target.value = '' }} />
      {missing.length > 0 && <span className="flex items-center gap-1 text-xs text-warn"><TriangleAlert aria-hidden />Missing: {missing.map((part) => partNames[part]).join(', ')}</span>}
      {asks === 'add' && <AddLanguage draft={draft} locale={locale} onClose={() => setAsks(null)} add={(tag) => { change({ translations: [...draft.translations, { ...copyOf(draft, locale), locale: tag }] }); show(tag); setAsks(null) }} />}
      {asks === 'remove' && <ConfirmDialog title={`Remove ${languageName(locale)}?`} label="Remove language" danger onClose={() => setAsks(null)} run={remove}>Its subject, HTML and text are removed from the draft. Published versions keep them.</ConfirmDialog>}
    </div>
  )
}

function copyOf(draft: Draft, locale: string) {
  const { subject, html, text } = partsOf(draft, locale)
  return { subject, html, text }
}

function AddLanguage({ draft, locale, add, onClose }: { draft: Draft; locale: string; add: (tag: string) => void; onClose: () => void }) {
  const [tag, setTag] = useState('')
  const found = canonicalLocale(tag)
  const taken = found !== null && draft.translations.some((t) => t.locale === found)
  const empty = Object.values(copyOf(draft, locale)).every((text) => text === '')
  return (
    <Dialog title="Add language" onClose={onClose} actions={<><button type="button" className="btn" onClick={onClose}>Cancel</button><button type="submit" form="add-language" className="btn primary" disabled={!found || taken || empty}>Add language</button></>}>
      <form id="add-language" className="grid gap-3" onSubmit={(e) => { e.preventDefault(); if (found && !taken && !empty) add(found) }}>
        <Field label="Language tag" hint={found ? languageName(found) : 'Such as pt-BR or de.'} error={taken ? 'The template already has this language.' : empty ? 'Write a subject, HTML or text first.' : undefined}>{(p) => <><input {...p} className="input" autoFocus list="languages" value={tag} onChange={(e) => setTag(e.target.value)} /><datalist id="languages">{locales.map((l) => <option key={l} value={l}>{languageName(l)}</option>)}</datalist></>}</Field>
        <p className="text-ink-2">It starts as a copy of {locale ? languageName(locale) : 'the default language'}.</p>
      </form>
    </Dialog>
  )
}
