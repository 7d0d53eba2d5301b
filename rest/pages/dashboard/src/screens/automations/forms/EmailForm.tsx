import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Field } from '@/parts/Form'
import { SegmentedControl } from '@/parts/Tabs'
import { Code } from '@/screens/code/Code'
import type { TemplateHint } from '../useHints'
import { CheckField, ListField, More, SpanField, TextField, Values } from './fields'
import { textOf, useStepForm } from './form'
import { PairsField, TagsField } from './PairsField'
import { TargetField } from './TargetField'

// EmailForm is a step that sends an email: a template with its variables, or a text of the step's own.
export function EmailForm() {
  const form = useStepForm()
  const [wants, setWants] = useState<'template' | 'own' | null>(null)
  const mode = form.get('template') ? 'template' : form.get('subject') || form.get('html') || form.get('text') ? 'own' : (wants ?? ((form.hints.templates?.length ?? 0) > 0 ? 'template' : 'own'))
  // What was written is kept while the other way is looked at.
  const [kept, setKept] = useState<Record<string, unknown>>({})
  function turn(to: 'template' | 'own') {
    if (to === mode || form.readOnly) return
    const { template, subject, html, text, ...rest } = form.value
    setWants(to)
    setKept(to === 'template' ? { subject, html, text } : { template })
    form.put({ ...rest, ...kept })
  }
  return (
    <>
      <div><SegmentedControl label="Content" value={mode} onChange={turn} choices={[{ key: 'template', name: 'Template' }, { key: 'own', name: 'Custom content' }]} /></div>
      {mode === 'template' ? <TemplateFields /> : <OwnFields />}
      <TextField field="from" label="From" hint={mode === 'template' ? "Leave empty to use the template’s sender." : 'Must be on a verified domain, such as Ada <ada@example.com>.'} list={form.hints.senders} />
      <More title="Recipients and replies" fields={['to', 'cc', 'bcc', 'reply_to']}>
        <ListField field="to" label="To" placeholder="{{event.email}}" hint="Leave empty to use the event’s email address. Separate several with commas." />
        <ListField field="cc" label="Cc" />
        <ListField field="bcc" label="Bcc" />
        <ListField field="reply_to" label="Reply-To" list={form.hints.senders} />
      </More>
      <More title="If it can’t be sent or is late" fields={['on_suppressed', 'on_error', 'expires_after']}>
        <TargetField slot="on_suppressed" label="If the recipient is suppressed" />
        <TargetField slot="on_error" label="If it’s rejected" />
        <SpanField field="expires_after" label="Skip if late by more than" empty="Always sent, no matter how late." />
      </More>
      <More title="Unsubscribe, tags and headers" fields={['unsubscribe', 'category', 'tags', 'headers']}>
        <CheckField field="unsubscribe" label="Add an unsubscribe link" hint="For email that isn’t strictly transactional." />
        <TextField field="category" label="Category" hint="Recipients can unsubscribe from each category separately." />
        <TagsField field="tags" label="Tags" hint="Available in statistics and filters." />
        <PairsField field="headers" label="Headers" />
      </More>
    </>
  )
}

function TemplateFields() {
  const form = useStepForm()
  const template = (form.get('template') ?? {}) as { id?: string; alias?: string }
  const list = form.hints.templates ?? []
  const named = template.id ?? template.alias ?? ''
  const chosen = list.find((t) => t.id === named || (t.alias !== null && t.alias === named))
  // The alias is preferred: it stays valid if the template is created again.
  const choose = (id: string) => {
    const t = list.find((one) => one.id === id)
    const { id: _id, alias: _alias, ...rest } = (form.get('template') ?? {}) as Record<string, unknown>
    form.set('template', t ? { ...(t.alias ? { alias: t.alias } : { id: t.id }), ...rest } : undefined)
  }
  return (
    <>
      <Field label="Template" error={form.wrong('template') ?? form.wrong('template.id') ?? form.wrong('template.alias')} hint={chosen ? (chosen.version === null ? 'Never published. Publish it before you activate.' : (chosen.subject ?? undefined)) : list.length === 0 && form.hints.templates ? 'No templates yet.' : undefined}>{(p) => (
        <select {...p} className="input" data-field="template" disabled={form.readOnly} value={chosen?.id ?? named} onChange={(e) => choose(e.target.value)}>
          <option value="">Choose a template</option>
          {named !== '' && !chosen && <option value={named}>{named}</option>}
          {list.map((t) => <option key={t.id} value={t.id}>{t.name}{t.alias && t.alias !== t.name ? ` (${t.alias})` : ''}{t.version === null ? ', not published' : ''}</option>)}
        </select>
      )}</Field>
      {chosen && <p className="-mt-2 text-xs"><Link className="link" to={`/templates/${chosen.id}` as string}>Open template</Link></p>}
      {chosen && <Variables template={chosen} />}
      {named !== '' && (
        <More title="Language and time zone" fields={['template.locale', 'template.time_zone']}>
          <TextField field="template.locale" label="Language" hint="Such as pt-BR. Numbers and dates are written in it." liquid placeholder="{{ event.data.locale }}" />
          <TextField field="template.time_zone" label="Time zone" hint="Such as America/Sao_Paulo. Times are shown in it." liquid placeholder="{{ event.data.time_zone }}" />
        </More>
      )}
    </>
  )
}

function Variables({ template }: { template: TemplateHint }) {
  const form = useStepForm()
  const given = (form.get('template.variables') ?? {}) as Record<string, unknown>
  const names = [...template.variables.map((v) => v.key), ...Object.keys(given).filter((k) => !template.variables.some((v) => v.key === k || v.key.startsWith(`${k}.`)))]
  if (names.length === 0) return <p className="text-xs text-ink-3">This template has no variables.</p>
  const write = (key: string, text: string) => {
    const { [key]: _, ...rest } = given
    form.set('template.variables', text === '' ? rest : { ...rest, [key]: text })
  }
  return (
    <fieldset className="grid gap-2">
      <legend className="mb-1 font-medium">Variables</legend>
      {names.map((key) => {
        const v = template.variables.find((one) => one.key === key)
        const value = given[key] ?? key.split('.').reduce<unknown>((at, part) => (typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[part] : undefined), given)
        const event = key.startsWith('event.')
        const suggestion = form.hints.paths.find((p) => p.endsWith(`.${key.split('.').at(-1)}`))
        const structured = typeof value === 'object' && value !== null
        return (
          <div key={key} className="relative">
            <Field label={<><code>{key}</code>{v?.required && !event && <span className="text-ink-3"> required</span>}</>} error={form.wrong(`template.variables.${key}`)} hint={event ? 'Filled from the event.' : structured ? 'This value is a list or object. Edit it as JSON.' : !v ? 'Not a variable of this template.' : undefined}>{(p) => (
              <input {...p} className="input" data-field={`template.variables.${key}`} readOnly={form.readOnly || structured} placeholder={suggestion && !event ? `{{ ${suggestion} }}` : undefined} value={structured ? JSON.stringify(value) : textOf(value)} onChange={(e) => write(key, e.target.value)} />
            )}</Field>
            {!form.readOnly && !structured && <div className="absolute -top-1 right-0"><Values into={(text) => write(key, textOf(value) + text)} /></div>}
          </div>
        )
      })}
    </fieldset>
  )
}

function OwnFields() {
  const form = useStepForm()
  const [html, setHtml] = useState(() => Boolean(form.get('html')))
  return (
    <>
      <TextField field="subject" label="Subject" liquid />
      <div className="grid gap-2">
        {html ? (
          <div className="grid gap-1">
            <div className="flex items-center"><span className="font-medium">HTML</span>{!form.readOnly && <span className="ml-auto"><Values into={(text) => form.set('html', textOf(form.get('html')) + text)} /></span>}</div>
            <Code label="Email HTML" language="html" value={textOf(form.get('html'))} readOnly={form.readOnly} onChange={(v) => form.set('html', v)} height="h-60" />
            {form.wrong('html') && <p className="text-xs text-bad">{form.wrong('html')}</p>}
          </div>
        ) : null}
        <TextField field="text" label={html ? 'Plain text, for clients that don’t show HTML' : 'Text'} rows={html ? 4 : 8} liquid hint={html ? 'Generated from the HTML if empty.' : (form.wrong('html') ?? undefined)} />
        {!form.readOnly && !form.get('html') && <div><button type="button" className="btn sm" onClick={() => setHtml(!html)}>{html ? 'Remove HTML' : 'Add HTML'}</button></div>}
      </div>
    </>
  )
}
