import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { EditorState, Prec } from '@codemirror/state'
import { EditorView, keymap } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { basicSetup } from 'codemirror'
import { graphql as language, updateSchema } from 'cm6-graphql'
import { buildSchema } from 'graphql'
import { useEffect, useRef } from 'react'

// The colors follow the theme of the page.
const look = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'var(--color-surface)', color: 'var(--color-ink)', fontSize: '12.5px' },
  '&.cm-focused': { outline: '2px solid var(--color-accent)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '19px', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--color-ink)', padding: '8px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--color-ink)' },
  '.cm-gutters': { backgroundColor: 'var(--color-sunken)', color: 'var(--color-ink-3)', borderRight: '1px solid var(--color-line)' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'transparent' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { background: 'light-dark(#cfdcff, #2b3f78) !important' },
  '.cm-selectionMatch, .cm-matchingBracket, &.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--color-accent-soft)' },
  '.cm-panels, .cm-tooltip': { backgroundColor: 'var(--color-raised)', color: 'var(--color-ink)', borderColor: 'var(--color-line)' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--color-accent-fill)', color: 'var(--color-on-fill)' },
  '.cm-completionInfo': { maxWidth: '320px', whiteSpace: 'pre-wrap' },
})

const ink = HighlightStyle.define([
  { tag: [tags.keyword, tags.definitionKeyword, tags.typeName], color: 'var(--color-accent)' },
  { tag: [tags.string], color: 'var(--color-ok)' },
  { tag: [tags.number, tags.bool, tags.null, tags.variableName, tags.atom], color: 'var(--color-warn)' },
  { tag: [tags.comment], color: 'var(--color-ink-3)' },
  { tag: tags.invalid, color: 'var(--color-bad)' },
])

// Editor is the GraphQL editor. With a schema, it completes input and marks errors.
export default function Editor({ value, onChange, onRun, schema }: { value: string; onChange: (text: string) => void; onRun: () => void; schema?: string | null }) {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView | null>(null)
  const latest = useRef({ value, onChange, onRun })
  latest.current = { value, onChange, onRun }

  useEffect(() => {
    const nonce = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? ''
    const go = () => {
      latest.current.onRun()
      return true
    }
    const editor = new EditorView({
      parent: host.current ?? undefined,
      state: EditorState.create({
        doc: latest.current.value,
        extensions: [
          EditorView.cspNonce.of(nonce), Prec.highest(keymap.of([{ key: 'Mod-Enter', run: go }])), basicSetup, look, syntaxHighlighting(ink), language(), EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': 'Query', spellcheck: 'false' }),
          EditorView.updateListener.of((u) => {
            if (u.docChanged) latest.current.onChange(u.state.doc.toString())
          }),
        ],
      }),
    })
    view.current = editor
    return () => editor.destroy()
  }, [])

  useEffect(() => {
    const editor = view.current
    if (editor && editor.state.doc.toString() !== value) editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } })
  }, [value])

  useEffect(() => {
    if (!view.current || !schema) return
    try {
      updateSchema(view.current, buildSchema(schema, { assumeValidSDL: true }))
    } catch {
      // a schema of another GraphQL version: ignored
    }
  }, [schema])

  return <div ref={host} className="h-full min-h-0 min-w-0" />
}
