import { Webhook } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Code } from '@/screens/code/Code'
import { CheckField, ChoiceField, TextField } from '../forms/fields'
import { useStepForm } from '../forms/form'
import { PairsField } from '../forms/PairsField'
import { TargetField } from '../forms/TargetField'
import { slot, words } from '../model/step'
import { defineStep } from './kind'

export default defineStep({
  type: 'webhook', order: 9, word: 'Call a webhook', icon: Webhook, about: 'call your app',
  make: () => ({ key: 'call', type: 'webhook', url: '' }),
  setting: (s) => (words(s.url) ? `${words(s.method) || 'POST'} ${words(s.url).replace(/^https:\/\//, '')}` : ''),
  sides: [slot('on_error', 'If it’s rejected', 'refused')],
  outputs: ['status', 'body'],
  acts: true, continues: true,
  Form: WebhookForm,
})

function WebhookForm() {
  const form = useStepForm()
  return (
    <>
      <TextField field="url" label="URL" placeholder="https://example.com/hook" hint="HTTPS only. Event values can be used in the body." />
      <ChoiceField field="method" label="Method" fallback="POST" choices={[['POST', 'POST'], ['PUT', 'PUT']]} />
      <Body />
      <PairsField field="headers" label="Headers" hint="Visible to all members who can view automations." />
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
      <Code label="Request body (JSON)" language="json" value={typed ?? written} readOnly={form.readOnly} onChange={type} height="h-40" />
      <p className={`text-xs ${wrong || form.wrong('body') ? 'text-bad' : 'text-ink-3'}`}>{wrong ? 'Not valid JSON yet. The previous body is kept.' : (form.wrong('body') ?? 'JSON. Strings can contain event values, such as {{ event.user_id }}.')}</p>
    </div>
  )
}
