import { Link } from '@tanstack/react-router'
import { KeyRound } from 'lucide-react'
import { useState } from 'react'
import { useGraphQL } from '@/api/graphql'
import { unwrap, newIdempotencyKey, rest } from '@/api/rest'
import { useViewer } from '@/app/viewer'
import { CodeBlock } from '@/parts/CodeBlock'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { useWrite } from '@/parts/Form'
import { Card } from '@/parts/Page'
import { Tabs } from '@/parts/Tabs'
import { StartSmtp } from './queries.gen'
import { languages, snippet, type Language } from './snippets'

// SendOne shows code that sends the first email, in six languages. A click creates the key, which stays in
// the memory of this page only.
export function SendOne({ domain }: { domain: string | undefined }) {
  const viewer = useViewer()
  const [language, setLanguage] = useState<Language>('curl')
  const [made, setMade] = useState('')
  const name = `Start, ${new Date().toISOString().slice(0, 10)}`
  const make = useWrite(() => unwrap(rest.POST('/api-keys', { params: { header: { 'Idempotency-Key': newIdempotencyKey() } }, body: { name, scope: 'sending' } })))
  // Each credential contains the address of the relay. Its password is shown once, when it is created.
  const known = useGraphQL(StartSmtp, {}, { enabled: language === 'smtp' && viewer.has('relay') && viewer.can('WRITE') }).data?.smtpCredentials.nodes[0]
  const credential = useWrite(() => unwrap(rest.POST('/smtp-credentials', { params: { header: { 'Idempotency-Key': newIdempotencyKey() } }, body: { name } })))
  const [signIn, setSignIn] = useState<{ host: string; port: number; tls: string; username: string; password: string }>()
  const smtp = signIn ?? known
  const key = viewer.development?.apiKey ?? made
  const sender = viewer.development?.domain ?? domain ?? 'your-domain.example'
  const text = snippet(language, { url: location.origin, key: key || '$POSTRIDER_API_KEY', from: `hello@${sender}`, to: viewer.development ? 'you@example.com' : (viewer.user?.email ?? 'you@example.com'), smtp: smtp && { ...smtp, selfSigned: viewer.development !== null } })
  async function create() {
    const answer = await make.run()
    if (answer) setMade(keyIn(answer))
  }
  async function createCredential() {
    const answer = await credential.run()
    if (answer) setSignIn({ ...answer.smtp_credential, password: answer.password })
  }
  return (
    <Card
      title="Send an email" padded={false}
      actions={language === 'smtp' ? !signIn && viewer.can('WRITE') && <button type="button" className="btn sm" disabled={credential.busy} onClick={() => void createCredential()}><KeyRound aria-hidden />Create and insert a credential</button>
        : !key && viewer.can('WRITE') && <button type="button" className="btn sm" disabled={make.busy} onClick={() => void create()}><KeyRound aria-hidden />Create and insert a key</button>}
      footer={language === 'smtp' && signIn ? <span className="text-warn">The password is in the code above. Copy it now: you won’t be able to see it again.</span> : viewer.development ? <span>Uses the development key. Try <code>bounce@{viewer.development.domain}</code> too: {viewer.development.failures.join(', ')} each simulate a different failure.</span> : made ? <span className="text-warn">The key is in the code above. Copy it now: you won’t be able to see it again.</span> : <span>Uses the standard library only. More in the <a className="link under" href="/api/docs">API reference</a>.</span>}
    >
      {make.error !== null && <div className="p-4 pb-0"><ErrorAlert error={make.error} retry={() => void create()} /></div>}
      {credential.error !== null && <div className="p-4 pb-0"><ErrorAlert error={credential.error} retry={() => void createCredential()} /></div>}
      <Tabs label="Language" tabs={languages.map((l) => ({ ...l, hidden: l.key === 'smtp' && !viewer.has('relay') }))} value={language} onChange={(l) => setLanguage(l as Language)} inset="px-4">
        <div className="p-4">
          <CodeBlock text={text} />
          {language === 'smtp' && <p className="mt-2 text-xs text-ink-3">Works with any app or framework that supports SMTP. The password is that of an <Link to="/keys" className="link under">SMTP credential</Link>{!smtp && ', which also shows the host and port'}.</p>}
        </div>
      </Tabs>
    </Card>
  )
}

// keyIn returns the secret in the response to a new key.
function keyIn(answer: object): string {
  const [secret] = Object.values(answer).filter((v): v is string => typeof v === 'string' && v.startsWith('svc_'))
  return secret ?? ''
}
