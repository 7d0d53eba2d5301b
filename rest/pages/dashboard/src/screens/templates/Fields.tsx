import { useState } from 'react'
import { ChevronDown, ChevronRight } from 'lucide-react'
import { Field } from '@/parts/Form'
import { partsOf, withParts, type Draft, type Template } from './draft'

// Fields are the fields of a template above its parts.
// Layouts and partials have a name and an alias only.
export function Fields({ kind, draft, locale, wrong, locked, change }: { kind: Template['kind']; draft: Draft; locale: string; wrong: Record<string, string>; locked: boolean; change: (more: Partial<Draft>) => void }) {
  const [more, setMore] = useState(false)
  const open = more || Boolean(wrong.reply_to ?? wrong.category)
  const input = (key: 'name' | 'alias' | 'from' | 'replyTo' | 'category', mono = '') => (p: object) => (
    <input {...p} className={`input ${mono}`} value={draft[key]} readOnly={locked} onChange={(e) => change({ [key]: e.target.value })} />
  )
  return (
    <div className="grid gap-3">
      <div className="grid gap-3 sm:grid-cols-2">
        <Field label="Name" error={wrong.name}>{input('name')}</Field>
        <Field label="Alias" error={wrong.alias}>{input('alias', 'font-mono')}</Field>
      </div>
      {kind === 'template' && <>
      <Field label={locale ? `Subject (${locale})` : 'Subject'} error={wrong[draft.translations.some((t) => t.locale === locale) ? `translations[${draft.translations.findIndex((t) => t.locale === locale)}].subject` : 'subject']}>{(p) => <input {...p} className="input" value={partsOf(draft, locale).subject} readOnly={locked} onChange={(e) => change(withParts(draft, locale, { subject: e.target.value }))} />}</Field>
      <Field label="From" error={wrong.from}>{input('from')}</Field>
      {open && (
        <>
          <div className="grid gap-3 sm:grid-cols-2">
            <Field label="Reply to" hint="Separate several with commas." error={wrong.reply_to}>{input('replyTo')}</Field>
            <Field label="Category" hint="What recipients can unsubscribe from." error={wrong.category}>{input('category')}</Field>
          </div>
          <label className="flex items-center gap-2"><input type="checkbox" checked={draft.unsubscribe} disabled={locked} onChange={(e) => change({ unsubscribe: e.target.checked })} className="accent-accent-fill" />Add a managed unsubscribe link</label>
        </>
      )}
      <div><button type="button" className="btn quiet sm -ml-2" aria-expanded={open} onClick={() => setMore(!more)}>{open ? <ChevronDown aria-hidden /> : <ChevronRight aria-hidden />}Reply-To, category, unsubscribe</button></div>
      </>}
    </div>
  )
}
