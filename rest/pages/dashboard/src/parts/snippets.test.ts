import { expect, it } from 'vitest'
import { languages, smtpSnippet, snippet } from './snippets'

const mail = { from: 'hello@example.com', to: ['bob@example.net'], subject: "Bob's receipt" }

it('reaches the relay at its address', () => {
  const starttls = smtpSnippet(mail, { host: 'smtp.example.com', port: 2587, tls: 'STARTTLS', username: 'postrider', selfSigned: false })
  expect(starttls).toContain('curl --ssl-reqd smtp://smtp.example.com:2587 --crlf \\\n  --user "postrider:$POSTRIDER_API_KEY"')
  const implicit = smtpSnippet(mail, { host: '127.0.0.1', port: 465, tls: 'implicit', username: 'postrider', selfSigned: true })
  expect(implicit).toMatch(/^curl --insecure smtps:\/\/127\.0\.0\.1:465 /)
})

it('reads the key from the environment, and never inside single quotes', () => {
  for (const { key } of languages) {
    if (key === 'smtp') continue
    const text = snippet(key, 'https://mail.example.com', { path: '/emails', body: mail })
    expect(text).toContain('POSTRIDER_API_KEY')
    expect(text).not.toMatch(/'[^'\n]*\$POSTRIDER_API_KEY/)
  }
})

it('escapes quotes in the body', () => {
  expect(snippet('curl', '', { path: '/emails', body: mail })).toContain(`"Bob'\\''s receipt"`)
  expect(snippet('php', '', { path: '/emails', body: mail })).toContain(`'Bob\\'s receipt'`)
})
