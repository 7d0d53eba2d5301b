import type { CompletionContext } from '@codemirror/autocomplete'
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { Compartment, EditorState, StateEffect, StateField, type Extension } from '@codemirror/state'
import { Decoration, EditorView, type DecorationSet } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { basicSetup } from 'codemirror'
import { useEffect, useRef } from 'react'
import type { CodeProps, Mark } from './Code'
import { complete } from './complete'

// The colors follow the theme of the page.
const look = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'var(--color-surface)', color: 'var(--color-ink)', fontSize: '12.5px' },
  '&.cm-focused': { outline: '2px solid var(--color-accent)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '19px', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--color-ink)', padding: '8px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--color-ink)' },
  '.cm-gutters': { backgroundColor: 'var(--color-sunken)', color: 'var(--color-ink-3)', borderRight: '1px solid var(--color-line)' },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '.cm-activeLineGutter': { backgroundColor: 'var(--color-hover)', color: 'var(--color-ink)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { background: 'light-dark(#cfdcff, #2b3f78) !important' },
  '.cm-selectionMatch': { backgroundColor: 'var(--color-accent-soft)' },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--color-accent-soft)' },
  '.cm-wrong': { backgroundColor: 'var(--color-bad-soft)', textDecoration: 'underline wavy var(--color-bad-mark)', textUnderlineOffset: '3px' },
  '.cm-doubtful': { backgroundColor: 'var(--color-warn-soft)', textDecoration: 'underline wavy var(--color-warn-mark)', textUnderlineOffset: '3px' },
  '.cm-panels, .cm-tooltip': { backgroundColor: 'var(--color-raised)', color: 'var(--color-ink)', borderColor: 'var(--color-line)' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--color-accent-soft)', color: 'var(--color-ink)' },
  '.cm-completionDetail': { color: 'var(--color-ink-3)', fontStyle: 'normal' },
  '.cm-textfield': { backgroundColor: 'var(--color-surface)', border: '1px solid var(--color-line-strong)' },
  '.cm-button': { backgroundImage: 'none', backgroundColor: 'var(--color-hover)', border: '1px solid var(--color-line)' },
  '.cm-foldPlaceholder': { backgroundColor: 'var(--color-hover)', borderColor: 'var(--color-line)', color: 'var(--color-ink-2)' },
})

const ink = HighlightStyle.define([
  { tag: [tags.tagName, tags.propertyName, tags.keyword], color: 'var(--color-accent)' },
  { tag: [tags.string, tags.attributeValue], color: 'var(--color-ok)' },
  { tag: [tags.number, tags.bool, tags.null, tags.attributeName], color: 'var(--color-warn)' },
  { tag: [tags.comment, tags.angleBracket, tags.documentMeta], color: 'var(--color-ink-3)' },
  { tag: tags.invalid, color: 'var(--color-bad)' },
])

const setMarks = StateEffect.define<Mark[]>()
const marksField = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(held, change) {
    let next = held.map(change.changes)
    for (const effect of change.effects) {
      if (effect.is(setMarks)) next = Decoration.set(effect.value.map((m) => spot(m, change.state.doc.length)).filter((m) => m !== null), true)
    }
    return next
  },
  provide: (field) => EditorView.decorations.from(field),
})

function spot(m: Mark, length: number) {
  const from = Math.max(0, Math.min(m.from, length))
  const to = Math.max(from, Math.min(m.to, length))
  return to > from ? Decoration.mark({ class: m.doubtful ? 'cm-doubtful' : 'cm-wrong', attributes: { title: m.message } }).range(from, to) : null
}

// Languages are loaded on demand. Without one, only the colors are missing.
const languages: Record<CodeProps['language'], () => Promise<Extension>> = {
  html: () => import('@codemirror/lang-html').then((m) => m.html()),
  json: () => import('@codemirror/lang-json').then((m) => m.json()),
  text: () => Promise.resolve([]),
}

export default function CodeMirror({ label, language, value, onChange, readOnly = false, marks, at, insert, completions, names }: CodeProps) {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView | null>(null)
  const changed = useRef(onChange)
  changed.current = onChange
  const first = useRef(value)
  first.current = value
  const lock = useRef(new Compartment())
  const offered = useRef({ completions, names })
  offered.current = { completions, names }

  useEffect(() => {
    const speech = new Compartment()
    const nonce = document.querySelector<HTMLMetaElement>('meta[name=style-nonce]')?.content ?? ''
    // CodeMirror recognizes a running completion by the identity of its source.
    const source = { autocomplete: (context: CompletionContext) => complete(offered.current.completions ?? [], offered.current.names, context) }
    const editor = new EditorView({
      parent: host.current ?? undefined,
      state: EditorState.create({
        doc: first.current,
        extensions: [
          EditorView.cspNonce.of(nonce), basicSetup, look, syntaxHighlighting(ink), speech.of([]), EditorView.lineWrapping, marksField,
          EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false', tabindex: '0' }),
          lock.current.of([]),
          EditorState.languageData.of(() => [source]),
          EditorView.updateListener.of((u) => {
            if (u.docChanged) changed.current?.(u.state.doc.toString())
          }),
        ],
      }),
    })
    view.current = editor
    let gone = false
    languages[language]().then((found) => gone || editor.dispatch({ effects: speech.reconfigure(found) }), () => undefined)
    return () => {
      gone = true
      editor.destroy()
    }
  }, [language, label])

  useEffect(() => {
    view.current?.dispatch({ effects: lock.current.reconfigure(readOnly ? [EditorState.readOnly.of(true), EditorView.editable.of(false)] : []) })
  }, [readOnly, language, label])

  // The content was replaced: another version was loaded.
  useEffect(() => {
    const editor = view.current
    if (editor && editor.state.doc.toString() !== value) editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } })
  }, [value])

  useEffect(() => {
    view.current?.dispatch({ effects: setMarks.of(marks ?? []) })
  }, [marks, language, label])

  useEffect(() => {
    const editor = view.current
    if (!editor || !at) return
    const anchor = Math.min(at.from, editor.state.doc.length)
    editor.dispatch({ selection: { anchor, head: Math.min(at.to, editor.state.doc.length) }, effects: EditorView.scrollIntoView(anchor, { y: 'center' }) })
    editor.focus()
  }, [at])

  useEffect(() => {
    const editor = view.current
    if (!editor || !insert) return
    editor.dispatch(editor.state.replaceSelection(insert.text))
    editor.focus()
  }, [insert])

  return <div ref={host} className="h-full min-h-0 min-w-0" />
}
