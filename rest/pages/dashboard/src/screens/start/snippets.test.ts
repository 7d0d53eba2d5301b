import { expect, it } from 'vitest'
import { snippet } from './snippets'

const sample = { url: 'https://mail.example.com', key: 'svc_x', from: 'hello@example.com', to: 'bob@example.net' }

it('reaches the relay where the service says it is', () => {
  const starttls = snippet('smtp', { ...sample, smtp: { host: 'smtp.example.com', port: 2587, tls: 'STARTTLS', username: 'postrider', password: 'svs_1', selfSigned: false } })
  expect(starttls).toContain("curl --ssl-reqd smtp://smtp.example.com:2587 \\\n  --user 'postrider:svs_1'")
  const implicit = snippet('smtp', { ...sample, smtp: { host: '127.0.0.1', port: 465, tls: 'implicit', username: 'postrider', selfSigned: true } })
  expect(implicit).toContain("curl --insecure smtps://127.0.0.1:465 \\\n  --user 'postrider:svs_…'")
})

it('guesses no port', () => {
  expect(snippet('smtp', sample)).toContain('"smtp://$SMTP_HOST:$SMTP_PORT"')
})
