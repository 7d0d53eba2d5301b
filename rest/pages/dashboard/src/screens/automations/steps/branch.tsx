import { GitBranch, Plus, Trash2 } from 'lucide-react'
import { ConditionField } from '../forms/ConditionField'
import { useStepForm } from '../forms/form'
import { TargetField } from '../forms/TargetField'
import { wordsOfExpression } from '../model/expression'
import { isEmpty, listOf, slot } from '../model/step'
import { defineStep } from './kind'

export default defineStep({
  type: 'branch', order: 7, word: 'Branch', icon: GitBranch, about: 'take one of several paths',
  make: () => ({ key: 'branch', type: 'branch', cases: [{ if: '' }] }),
  setting: (s) => `${listOf(s.cases).length} ${listOf(s.cases).length === 1 ? 'case' : 'cases'}`,
  ways: (s) => [...listOf(s.cases).map((c, i) => slot(`cases[${i}].goto`, `If ${wordsOfExpression(c.if) || '…'}`, wordsOfExpression(c.if) || `case ${i + 1}`)), slot('otherwise', 'Otherwise', 'otherwise')],
  lacks: (s) => listOf(s.cases).flatMap((c, i) => (isEmpty(c.if) ? [{ field: `cases[${i}].if` }] : [])),
  outputs: ['case'],
  took: (_, output) => (typeof output.case === 'number' ? `cases[${output.case}].goto` : 'otherwise'),
  wordOf: (output) => (typeof output.case === 'number' ? `Case ${output.case + 1}` : 'Otherwise'),
  Form: BranchForm,
})

function BranchForm() {
  const form = useStepForm()
  const cases = listOf(form.get('cases'))
  return (
    <>
      <p className="text-ink-2">The first matching case is used.</p>
      {cases.map((_, i) => (
        <section key={i} aria-label={`Case ${i + 1}`} className="grid gap-3 rounded-card border border-line p-3">
          <div className="flex items-center"><h3 className="font-medium">Case {i + 1}</h3>{cases.length > 1 && !form.readOnly && <button type="button" className="btn quiet sm square ml-auto" aria-label={`Delete case ${i + 1}`} onClick={() => form.dropOne('cases', i)}><Trash2 aria-hidden /></button>}</div>
          <ConditionField field={`cases[${i}].if`} label="If" />
          <TargetField slot={`cases[${i}].goto`} label="Then" />
        </section>
      ))}
      {cases.length < 10 && !form.readOnly && <div><button type="button" className="btn" onClick={form.addCase}><Plus aria-hidden />Add a case</button></div>}
      <TargetField slot="otherwise" label="Otherwise" />
    </>
  )
}
