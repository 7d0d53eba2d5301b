import type { Trouble } from './problems'

// names are the words of the forms for fields of steps.
const names: Record<string, string> = {
  if: 'condition', at: 'time', window: 'time of day', goto: 'next step', on_true: 'next step', on_false: 'next step', otherwise: 'step for “Otherwise”', on_timeout: 'step after the timeout', on_error: 'step after an error', next: 'next step',
  events: 'event', user_id: 'user ID', reply_to: 'Reply-To address', url: 'URL', html: 'HTML text', utm: 'UTM', key: 'key', from: 'sender', to: 'recipient', reentry: 'rule for repeated events',
}

// items are the words for the members of lists.
const items: Record<string, string> = { cases: 'Case', conditions: 'Condition', variants: 'Variant', headers: 'Header', events: 'Event', any: 'Condition', all: 'Condition' }

const nameOf = (field: string) => names[field] ?? field.replaceAll('_', ' ')
const capital = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1)
const article = (name: string) => (/^(?:[aeio]|u(?!ser|rl|tm))/i.test(name) || /^(?:HTML|SMS)/.test(name) ? 'an' : /^URL|^UTM/.test(name) ? 'a' : 'a')

// sentenceOf returns a problem in plain English: `cases[0].if` and `is required` become “Case 1 needs a condition”.
export function sentenceOf({ field, message }: Pick<Trouble, 'field' | 'message'>): string {
  if (field === '') return capital(message)
  const owners: string[] = []
  let name = ''
  for (const part of field.split('.')) {
    const [, list, index] = /^(.*)\[(\d+)\]$/.exec(part) ?? []
    if (list !== undefined) {
      owners.push(`${items[list] ?? capital(nameOf(list).replace(/s$/, ''))} ${Number(index) + 1}`)
      name = ''
    } else name = nameOf(part)
  }
  const owner = owners.join(', ')
  const required = message === 'is required' || message === 'cannot be empty'
  if (name === '') return required ? `${owner} is empty` : join(owner, message)
  if (required) return `${owner || 'This step'} needs ${article(name)} ${name}`
  return join(owner ? `${owner}: ${name}` : capital(name), message)
}

// join continues a name with what the service says: a verb follows directly, and a sentence after a colon.
const join = (name: string, message: string) => (/^(?:must|cannot|is|has|are|requires|needs|does|points|uses|will)\b/.test(message) ? `${name} ${message}` : `${name}: ${message}`)
