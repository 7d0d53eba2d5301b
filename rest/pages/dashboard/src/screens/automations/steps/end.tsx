import { Octagon } from 'lucide-react'
import { ChoiceField } from '../forms/fields'
import { defineStep } from './kind'

export default defineStep({
  type: 'end', order: 10, word: 'End', icon: Octagon, about: 'end the run',
  make: () => ({ key: 'end', type: 'end' }),
  setting: (s) => (s.outcome === 'failed' ? 'as failed' : 'as completed'),
  ways: () => [],
  Form: EndForm,
})

function EndForm() {
  return <ChoiceField field="outcome" label="End the run as" fallback="completed" choices={[['completed', 'completed'], ['failed', 'failed']]} />
}
