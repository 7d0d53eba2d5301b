import { GitBranch } from 'lucide-react'
import { ConditionField } from '../forms/ConditionField'
import { TargetField } from '../forms/TargetField'
import { wordsOfExpression } from '../model/expression'
import { slot } from '../model/step'
import { defineStep } from './kind'

export default defineStep({
  type: 'condition', order: 6, word: 'Condition', icon: GitBranch, about: 'continue only if something is true',
  make: () => ({ key: 'check', type: 'condition', if: '' }),
  setting: (s) => wordsOfExpression(s.if),
  ways: () => [slot('on_true', 'If true', 'yes'), slot('on_false', 'Otherwise', 'no')],
  outputs: ['result'],
  took: (_, output) => (output.result === true ? 'on_true' : 'on_false'),
  wordOf: (output) => (output.result === true ? 'True' : 'False'),
  Form: ConditionForm,
})

function ConditionForm() {
  return (
    <>
      <ConditionField field="if" label="If" hint="A missing value counts as false." />
      <TargetField slot="on_true" label="If true" />
      <TargetField slot="on_false" label="Otherwise" />
    </>
  )
}
