import type { components } from '@/api/rest.gen'

export type TemplateRecord = components['schemas']['TemplateRecord']
export type Template = ReturnType<typeof fromRest>
export type VariableType = components['schemas']['TemplateVariableInput']['type']

export interface Variable {
  key: string
  type: VariableType
  required: boolean
  // fallback and example are the typed texts; empty for none.
  fallback: string
  // emptyFallback is set if the fallback is an empty text.
  emptyFallback?: true
  example: string
}

// Draft is the editable state.
export interface Draft {
  name: string
  alias: string
  subject: string
  from: string
  replyTo: string
  category: string
  html: string
  text: string
  unsubscribe: boolean
  variables: Variable[]
  translations: Translation[]
}

// Translation is the content in another language.
export interface Translation extends Parts {
  locale: string
}

// Parts are the texts that have a language. Empty ones are absent.
export interface Parts {
  subject: string
  html: string
  text: string
}

// Unsaved is a draft, with the saved state that it is based on and its etag.
export interface Unsaved {
  draft: Draft
  base: Draft
  etag: string
}

export const typesOf: VariableType[] = ['string', 'number', 'boolean', 'list', 'object']

const typed = (value: unknown) => (value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value))

export function draftOf(t: Template): Draft {
  return {
    name: t.name, alias: t.alias ?? '', subject: t.subject ?? '', from: t.from ?? '', replyTo: t.replyTo.join(', '), category: t.category ?? '', html: t.html ?? '', text: t.text ?? '', unsubscribe: t.unsubscribeEnabled,
    variables: t.variables.map((v) => ({ key: v.key, type: v.type as VariableType, required: v.required, fallback: typed(v.fallback), ...(v.fallback === '' ? { emptyFallback: true as const } : {}), example: typed(v.example) })),
    translations: t.translations.map((l) => ({ locale: l.locale, subject: l.subject ?? '', html: l.html ?? '', text: l.text ?? '' })),
  }
}

// partsOf returns the parts of a draft in a language; empty for that of the template.
export const partsOf = (draft: Draft, locale: string): Parts => draft.translations.find((t) => t.locale === locale) ?? draft

// withParts returns a change of a draft's parts in a language.
export const withParts = (draft: Draft, locale: string, more: Partial<Parts>): Partial<Draft> =>
  locale === '' ? more : { translations: draft.translations.map((t) => (t.locale === locale ? { ...t, ...more } : t)) }

// missingParts lists the parts that the template has and a translation lacks.
export const missingParts = (draft: Draft, locale: string) => {
  const parts = partsOf(draft, locale)
  return (['subject', 'html', 'text'] as const).filter((part) => draft[part] !== '' && parts[part] === '')
}

// fromRest converts a record to the names of the dashboard.
export const fromRest = (r: TemplateRecord) => ({
  id: r.id, kind: r.kind, components: r.components, hasNewerComponents: r.has_newer_components, alias: r.alias, name: r.name, status: r.status === 'draft' ? ('DRAFT' as const) : ('PUBLISHED' as const), version: r.version, publishedAt: r.published_at, hasUnpublishedChanges: r.has_unpublished_changes, subject: r.subject, from: r.from,
  replyTo: r.reply_to, html: r.html, text: r.text, variables: r.variables, translations: r.translations, unsubscribeEnabled: r.unsubscribe_enabled, category: r.category, updatedAt: r.updated_at, etag: r.etag,
})

// translationText returns a translation as one text, for comparisons.
export const translationText = (t: { locale: string; subject: string | null; html: string | null; text: string | null }) =>
  [`${t.locale}: ${t.subject ?? ''}`, t.html, t.text].filter(Boolean).join('\n')

// valueOf converts a typed text to a value of its type. Invalid values stay text, and the server rejects them.
export function valueOf(type: VariableType, text: string): unknown {
  if (type === 'string') return text
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

// bodyOf returns the body of PATCH, with only the changed fields.
export function bodyOf(draft: Draft, base: Draft): components['schemas']['UpdateTemplate'] {
  const body: components['schemas']['UpdateTemplate'] = {}
  if (draft.name !== base.name) body.name = draft.name
  if (draft.alias !== base.alias) body.alias = draft.alias || null
  if (draft.subject !== base.subject) body.subject = draft.subject || null
  if (draft.from !== base.from) body.from = draft.from || null
  if (draft.replyTo !== base.replyTo) body.reply_to = draft.replyTo ? draft.replyTo.split(',').map((a) => a.trim()).filter(Boolean) : null
  if (draft.category !== base.category) body.category = draft.category || null
  if (draft.html !== base.html) body.html = draft.html || null
  if (draft.text !== base.text) body.text = draft.text || null
  if (draft.unsubscribe !== base.unsubscribe) body.unsubscribe_enabled = draft.unsubscribe
  if (JSON.stringify(draft.variables) !== JSON.stringify(base.variables)) {
    body.variables = draft.variables.map((v) => ({ key: v.key, type: v.type, required: v.required, ...fallbackOf(v), ...(v.example === '' ? {} : { example: valueOf(v.type, v.example) }) }))
  }
  if (JSON.stringify(draft.translations) !== JSON.stringify(base.translations)) {
    body.translations = draft.translations.map((t) => ({ locale: t.locale, subject: t.subject || null, html: t.html || null, text: t.text || null }))
  }
  return body
}

function fallbackOf(v: Variable) {
  if (v.fallback !== '') return { fallback: valueOf(v.type, v.fallback) }
  return v.emptyFallback && v.type === 'string' ? { fallback: '' } : {}
}

// sampleOf returns the value of a variable in the preview: its example, or one that fits its type.
export function sampleOf(v: Variable): string {
  if (v.example) return v.example
  if (v.fallback) return v.fallback
  switch (v.type) {
    case 'number':
      return '42'
    case 'boolean':
      return 'true'
    case 'list':
      return '[]'
    case 'object':
      return '{}'
    default:
      return v.key.split('.').at(-1) ?? v.key
  }
}

// valuesOf converts samples to the variables of a send: `customer.name` becomes a member of `customer`. Empty
// samples are left out.
export function valuesOf(variables: Variable[], samples: Record<string, string>): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const v of variables) {
    const text = samples[v.key] ?? sampleOf(v)
    if (!v.key || text === '') continue
    const path = v.key.split('.')
    const last = path.pop() ?? v.key
    let at = values
    for (const part of path) {
      const inner = at[part]
      at = (typeof inner === 'object' && inner !== null ? inner : (at[part] = {})) as Record<string, unknown>
    }
    at[last] = valueOf(v.type, text)
  }
  return values
}

// undeclared lists the placeholders of the texts that no variable declares.
export function undeclared(draft: Draft): string[] {
  const all = `${draft.subject}\n${draft.html}\n${draft.text}\n${draft.from}\n${draft.translations.map((t) => `${t.subject}\n${t.html}\n${t.text}`).join('\n')}`
  const known = new Set(['unsubscribe_url', 'forloop', 'true', 'false', 'nil', 'empty', 'blank', ...draft.variables.map((v) => v.key)])
  for (const m of all.matchAll(/\{%-?\s*(?:for\s+(\w+)\s+in|assign\s+(\w+)|capture\s+(\w+))/g)) known.add(m[1] ?? m[2] ?? m[3] ?? '')
  const found = new Set<string>()
  for (const m of all.matchAll(/\{\{-?\s*([A-Za-z_][\w.]*)|\{%-?\s*(?:if|elsif|unless|case)\s+([A-Za-z_][\w.]*)|\{%-?\s*for\s+\w+\s+in\s+([A-Za-z_][\w.]*)/g)) {
    const key = m[1] ?? m[2] ?? m[3] ?? ''
    const parts = key.split('.')
    if (!parts.some((_, i) => known.has(parts.slice(0, i + 1).join('.')))) found.add(key)
  }
  return [...found]
}
