import { Mail } from 'lucide-react'
import { EmailForm } from '../forms/EmailForm'
import { getIn } from '../model/path'
import { slot, words, type Step } from '../model/step'
import { defineStep } from './kind'

export default defineStep({
  type: 'send_email', order: 1, word: 'Send an email', icon: Mail, about: 'a template or custom content',
  make: ({ from }) => ({ key: 'email', type: 'send_email', ...(from ? { from } : {}) }),
  setting: (s) => {
    const template = s.template as { id?: string; alias?: string } | undefined
    const named = words(template ? (template.alias ?? template.id) : s.subject)
    return named && (template ? `Template ${named}` : `“${named}”`)
  },
  sides: [slot('on_suppressed', 'If the recipient is suppressed', 'suppressed'), slot('on_error', 'If it’s rejected', 'refused')],
  lacks: (s) => lacksOf(s).map((field) => ({ field })),
  outputs: ['status', 'email_id'], values: ['sent', 'suppressed', 'failed', 'expired'],
  acts: true, continues: true,
  Form: EmailForm,
})

function lacksOf(s: Step): string[] {
  if (s.template) return getIn(s, 'template.id') || getIn(s, 'template.alias') ? [] : ['template']
  return [...(s.from ? [] : ['from']), ...(s.subject ? [] : ['subject']), ...(s.html || s.text ? [] : ['html'])]
}
