import { Link } from '@tanstack/react-router'
import { KeyRound } from 'lucide-react'
import { useState } from 'react'
import { useGraphQL } from '@/api/graphql'
import { unwrap, newIdempotencyKey, rest } from '@/api/rest'
import { useViewer } from '@/app/viewer'
import { CodeBlock } from '@/parts/CodeBlock'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { useWrite } from '@/parts/Form'
import { useSample } from '@/parts/sample'
import { exportKey, keyName, languages, smtpSnippet, snippet, type Language } from '@/parts/snippets'
import { Tabs } from '@/parts/Tabs'
import { StartSmtp } from './queries.gen'

// SendOne shows programs that send an email. A click creates the key, which stays in the memory of this page only.
export function SendOne() {
  const viewer = useViewer()
  const sample = useSample()
  const [language, setLanguage] = useState<Language>('curl')
  const [made, setMade] = useState('')
  const name = `Start, ${new Date().toISOString().slice(0, 10)}`
  const make = useWrite(() => unwrap(rest.POST('/api-keys', { params: { header: { 'Idempotency-Key': newIdempotencyKey() } }, body: { name, scope: 'sending' } })))
  // Each credential contains the address of the relay. Its password is shown once, when it is created.
  const credentials = useGraphQL(StartSmtp, {}, { enabled: language === 'smtp' && viewer.has('relay') && viewer.can('WRITE') })
  const known = credentials.data?.smtpCredentials.nodes[0]
  const credential = useWrite(() => unwrap(rest.POST('/smtp-credentials', { params: { header: { 'Idempotency-Key': newIdempotencyKey() } }, body: { name } })))
  const [signIn, setSignIn] = useState<{ host: string; port: number; tls: string; username: string; password: string }>()
  const relay = signIn ?? known
  const key = viewer.development?.apiKey ?? made
  const run = languages.find((l) => l.key === language)?.run ?? 'sh'
  async function create() {
    const answer = await make.run()
    if (answer) setMade(answer.secret)
  }
  async function createCredential() {
    const answer = await credential.run()
    if (answer) setSignIn({ ...answer.smtp_credential, password: answer.password })
  }
  // program is undefined while a part of it loads, and empty as long as it would not work.
  function program() {
    if (!sample || credentials.isLoading) return undefined
    if (language === 'smtp' && !relay) return ''
    const mail = { from: sample.from, to: [sample.to], subject: 'Hello from Postrider', html: '<h1>It works</h1><p>Your first email.</p>' }
    const text = language === 'smtp' && relay ? smtpSnippet(mail, { ...relay, selfSigned: viewer.development !== null }) : snippet(language === 'smtp' ? 'curl' : language, location.origin, { path: '/emails', body: mail })
    const secret = language === 'smtp' ? (signIn?.password ?? key) : key
    return run === 'sh' && secret ? `${exportKey(secret)}\n${text}` : text
  }
  const secret = (language === 'smtp' ? (signIn ?? made) : made) && <p className="text-warn">Copy the {language === 'smtp' && signIn ? 'password' : 'key'} now: you won’t be able to see it again.</p>
  const text = program()
  return (
    <div className="border-t border-line-soft first:border-t-0">
      <Tabs label="Language" tabs={languages.map((l) => ({ ...l, hidden: (l.key === 'smtp' && !viewer.has('relay')) || (l.key === 'resend' && !viewer.has('compat')) }))} value={language} onChange={(l) => setLanguage(l as Language)} inset="px-4">
        <div className="grid gap-2 p-4">
          {make.error !== null && <ErrorAlert error={make.error} retry={() => void create()} />}
          {credential.error !== null && <ErrorAlert error={credential.error} retry={() => void createCredential()} />}
          {key && run !== 'sh' && <CodeBlock text={exportKey(key)} />}
          {text ? <CodeBlock run={run} title={run === 'sh' ? undefined : <>Save as <code>{run.split(' ').at(-1)}</code> and run <code>{run}</code></>} text={text} /> : text === undefined && <span className="skel h-40 w-full" />}
          <div className="flex flex-wrap items-center gap-x-3 gap-y-2 text-xs text-ink-3">
            {secret}
            {language === 'smtp' && !relay && viewer.can('WRITE') && <button type="button" className="btn sm" disabled={credential.busy} onClick={() => void createCredential()}><KeyRound aria-hidden />Create and insert a credential</button>}
            {(language !== 'smtp' || relay) && !key && !signIn && viewer.can('WRITE') && <button type="button" className="btn sm" disabled={make.busy} onClick={() => void create()}><KeyRound aria-hidden />Create and insert a key</button>}
            {language === 'smtp' && <p>Works with any app or framework that supports SMTP. The password is an API key, or that of an <Link to="/keys" search={{ tab: 'smtp' } as never} className="link under">SMTP credential</Link>{!relay && '. Create one to see the command with the host and port'}.</p>}
            {language !== 'smtp' && !secret && (viewer.development
              ? <p>Uses the development key.{viewer.development.failures.length > 0 && <> Try <code>bounce@{viewer.development.domain}</code> too: {viewer.development.failures.join(', ')} each simulate a different failure.</>}</p>
              : <p>Reads the key from <code>{keyName}</code>. More in the <a className="link under" href="/api/docs">API reference</a>.</p>)}
          </div>
        </div>
      </Tabs>
    </div>
  )
}
