import { useEffect, useState } from 'react'
import { Code } from '@/screens/code/Code'
import { CheckField, ChoiceField, More, SpanField, TextField } from './fields'
import { textOf, useStepForm } from './form'
import { PairsField } from './PairsField'
import { TargetField } from './TargetField'

export function WebhookForm() {
  const form = useStepForm()
  return (
    <>
      <TextField field="url" label="URL" placeholder="https://example.com/hook" hint="https only; put values into the body." />
      <ChoiceField field="method" label="Method" fallback="POST" choices={[['POST', 'POST'], ['PUT', 'PUT']]} />
      <Body />
      <PairsField field="headers" label="Headers" hint="Everybody who may read automations sees them." />
      <CheckField field="capture" label="Keep the answer" hint={<>A JSON answer can be read as <code>steps.{form.at}.body</code>.</>} />
      <TargetField slot="on_error" label="If it fails" hint="It is tried for four hours first." />
    </>
  )
}

// Body is JSON; it is written to the draft as soon as it can be read.
function Body() {
  const form = useStepForm()
  const value = form.get('body')
  const [typed, setTyped] = useState<string | null>(null)
  const [wrong, setWrong] = useState(false)
  const written = value === undefined ? '' : JSON.stringify(value, null, 2)
  useEffect(() => { if (!wrong) setTyped(null) }, [written, wrong])
  function type(text: string) {
    setTyped(text)
    if (text.trim() === '') { setWrong(false); form.set('body', undefined); return }
    try {
      form.set('body', JSON.parse(text))
      setWrong(false)
    } catch {
      setWrong(true)
    }
  }
  return (
    <div className="grid gap-1">
      <span className="font-medium">Body</span>
      <Code label="Body of the request, JSON" language="json" value={typed ?? written} readOnly={form.readOnly} onChange={type} height="h-40" />
      <p className={`text-xs ${wrong || form.wrong('body') ? 'text-bad' : 'text-ink-3'}`}>{wrong ? 'This is not JSON yet; what stood there before is kept.' : (form.wrong('body') ?? 'JSON. Texts in it may have values of the event, as {{ event.user_id }}.')}</p>
    </div>
  )
}

export function SmsForm() {
  const form = useStepForm()
  const n = [...textOf(form.get('text'))].length
  return (
    <>
      <TextField field="to" label="To" liquid hint="A number as +4915112345678 once it is filled." />
      <TextField field="text" label="Text" rows={4} liquid hint={n > 0 ? `${n} characters before values are filled in` : undefined} />
      <TextField field="from" label="From" hint="The sender of the settings of text messages if left empty." />
      <More title="When it cannot be sent, or comes late" fields={['on_suppressed', 'on_error', 'expires_after']}>
        <TargetField slot="on_suppressed" label="If the owner has said STOP" />
        <TargetField slot="on_error" label="If it is refused" />
        <SpanField field="expires_after" label="Leave it out if it would be late by" empty="It is sent however late it is." />
      </More>
    </>
  )
}
