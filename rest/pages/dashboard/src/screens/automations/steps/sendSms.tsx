import { MessageSquare } from 'lucide-react'
import { More, SpanField, TextField } from '../forms/fields'
import { textOf, useStepForm } from '../forms/form'
import { TargetField } from '../forms/TargetField'
import { slot, words } from '../model/step'
import { defineStep } from './kind'

export default defineStep({
  type: 'send_sms', order: 2, word: 'Send a text message', icon: MessageSquare, about: 'to a phone number', module: 'sms',
  make: () => ({ key: 'sms', type: 'send_sms', to: '{{event.data.phone}}' }),
  setting: (s) => (words(s.text) ? `“${words(s.text)}”` : ''),
  sides: [slot('on_suppressed', 'If the recipient is suppressed', 'suppressed'), slot('on_error', 'If it’s rejected', 'refused')],
  outputs: ['status', 'sms_id', 'segments'], values: ['sent', 'suppressed', 'failed', 'expired'],
  acts: true, continues: true,
  Form: SmsForm,
})

function SmsForm() {
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
