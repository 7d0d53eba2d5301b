// Letter is an email of a conversation, received or sent.
export interface Letter {
  id: string
  sent: boolean
  who: string
  subject: string
  at: string
  messageId: string
  // answers are the Message-IDs that it names in In-Reply-To and References.
  answers: string[]
}

// wordsOf returns the words of a subject that find the rest of its conversation.
export function wordsOf(subject: string): string {
  const bare = subject.replace(/^(\s*(re|aw|fwd?|wg|sv|antw)\s*(\[\d+\])?\s*:)+/i, '')
  return (bare.match(/[\p{L}\p{N}]+/gu) ?? []).slice(0, 8).join(' ').slice(0, 180)
}

// idsIn returns the Message-IDs in header fields.
export const idsIn = (text: string) => [...text.matchAll(/<([^<>\s]+)>/g)].map((m) => m[1] ?? '')

// threadOf returns the conversation of an email, oldest first: emails that refer to it, those it refers to, and
// those they refer to.
export function threadOf(start: Letter, others: Letter[]): Letter[] {
  const thread = new Map([[start.id, start]])
  const known = new Set([start.messageId, ...start.answers].filter(Boolean))
  for (let grown = true; grown; ) {
    grown = false
    for (const one of others) {
      if (thread.has(one.id) || ![one.messageId, ...one.answers].some((id) => known.has(id))) continue
      thread.set(one.id, one)
      for (const id of [one.messageId, ...one.answers]) if (id) known.add(id)
      grown = true
    }
  }
  return [...thread.values()].sort((a, b) => Date.parse(a.at) - Date.parse(b.at))
}
