import { Clock } from 'lucide-react'
import { SpanField } from '../forms/fields'
import { wordsOfSpan } from '../model/duration'
import { words } from '../model/step'
import { defineStep } from './kind'

export default defineStep({
  type: 'delay', order: 3, word: 'Wait', icon: Clock, about: 'for hours or days',
  make: () => ({ key: 'pause', type: 'delay', duration: 'P1D' }),
  setting: (s) => (words(s.duration) ? wordsOfSpan(words(s.duration)) : ''),
  continues: true,
  Form: DelayForm,
})

function DelayForm() {
  return <SpanField field="duration" label="Wait for" hint="A day is 24 hours." />
}
