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
      <TextField field="url" label="URL" placeholder="https://example.com/hook" hint="HTTPS only. Event values can be used in the body." />
      <ChoiceField field="method" label="Method" fallback="POST" choices={[['POST', 'POST'], ['PUT', 'PUT']]} />
      <Body />
      <PairsField field="headers" label="Headers" hint="Visible to anyone who can view automations." />
      <CheckField field="capture" label="Save the response" hint={<>A JSON response is available as <code>steps.{form.at}.body</code>.</>} />
      <TargetField slot="on_error" label="On failure" hint="After retrying for four hours." />
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
      <Code label="Request body, JSON" language="json" value={typed ?? written} readOnly={form.readOnly} onChange={type} height="h-40" />
      <p className={`text-xs ${wrong || form.wrong('body') ? 'text-bad' : 'text-ink-3'}`}>{wrong ? 'Not valid JSON yet. The previous body is kept.' : (form.wrong('body') ?? 'JSON. Strings can contain event values, such as {{ event.user_id }}.')}</p>
    </div>
  )
}

export function SmsForm() {
  const form = useStepForm()
  const n = [...textOf(form.get('text'))].length
  return (
    <>
      <TextField field="to" label="To" liquid hint="A phone number such as +4915112345678, or a value that resolves to one." />
      <TextField field="text" label="Text" rows={4} liquid hint={n > 0 ? `${n} characters before values are filled in` : undefined} />
      <TextField field="from" label="From" hint="Leave empty to use the default text message sender." />
      <More title="If it can’t be sent or is late" fields={['on_suppressed', 'on_error', 'expires_after']}>
        <TargetField slot="on_suppressed" label="If the recipient has opted out (STOP)" />
        <TargetField slot="on_error" label="If it’s rejected" />
        <SpanField field="expires_after" label="Skip if late by more than" empty="Always sent, no matter how late." />
      </More>
    </>
  )
}
