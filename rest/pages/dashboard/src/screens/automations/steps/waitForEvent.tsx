import { Hourglass } from 'lucide-react'
import { Field } from '@/parts/Form'
import { ConditionField } from '../forms/ConditionField'
import { ListField, More, SpanField } from '../forms/fields'
import { textOf, useStepForm } from '../forms/form'
import { TargetField } from '../forms/TargetField'
import { wordsOfSpan } from '../model/duration'
import { slot, words } from '../model/step'
import { defineStep } from './kind'

export default defineStep({
  type: 'wait_for_event', order: 5, word: 'Wait for an event', icon: Hourglass, about: 'or until a timeout',
  make: () => ({ key: 'wait', type: 'wait_for_event', event: '', timeout: 'P1D' }),
  setting: (s) => (words(s.event) ? `${words(s.event).replaceAll(', ', ' or ')}${s.timeout ? `, at most ${wordsOfSpan(s.timeout)}` : ''}` : ''),
  ways: () => [slot('on_event', 'When it arrives', 'arrives'), slot('on_timeout', 'On timeout', 'timeout')],
  outputs: ['status', 'event.data'], values: ['received', 'timed_out'],
  took: (_, __, status) => (status === 'timed_out' ? 'on_timeout' : 'on_event'),
  Form: WaitForEventForm,
})

function WaitForEventForm() {
  const form = useStepForm()
  const mails = form.steps.filter((s) => s.type === 'send_email' && s.key && s.key !== form.at)
  const events = form.get('event')
  const own = [events].flat().some((e) => typeof e === 'string' && e.startsWith('$email.'))
  const since = textOf(form.get('since'))
  return (
    <>
      <ListField field="event" label="Event" list={form.hints.events} hint="The event name your app sends to POST /events, or a built-in event such as $email.opened. Separate several with commas; the first to arrive counts." />
      <SpanField field="timeout" label="Wait at most" />
      <TargetField slot="on_event" label="When it arrives" />
      <TargetField slot="on_timeout" label="On timeout" />
      <ConditionField field="conditions" label="Only events where" optional arriving hint="event is the one that arrives; trigger is the one that started the run." />
      {own && (
        <Field label="Only for the email of" error={form.wrong('step')}>{(p) => (
          <select {...p} className="input" data-field="step" disabled={form.readOnly} value={textOf(form.get('step'))} onChange={(e) => form.set('step', e.target.value)}><option value="">any email to the user</option>{mails.map((s) => <option key={s.key} value={s.key}>{s.name ?? s.key}</option>)}</select>
        )}</Field>
      )}
      <More title="Which events count" fields={['since']}>
        <Field label="Events count" error={form.wrong('since')} hint={since && since !== 'step' && since !== 'run' ? 'How long before the run started.' : undefined}>{(p) => (
          <select {...p} className="input" data-field="since" disabled={form.readOnly} value={since === '' || since === 'run' ? 'run' : since === 'step' ? 'step' : 'before'} onChange={(e) => form.set('since', e.target.value === 'run' ? undefined : e.target.value === 'step' ? 'step' : 'P1D')}>
            <option value="run">since the run started</option><option value="step">only from this step on</option><option value="before">also before the run started</option>
          </select>
        )}</Field>
        {since !== '' && since !== 'run' && since !== 'step' && <SpanField field="since" label="How long before" />}
      </More>
    </>
  )
}
