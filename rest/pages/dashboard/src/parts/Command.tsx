import { Link } from '@tanstack/react-router'
import { useViewer } from '@/app/viewer'
import { CodeBlock } from './CodeBlock'
import { useSample } from './sample'
import { exportKey, keyName, snippet, type Mail, type Request } from './snippets'

type Scope = 'full' | 'sending' | 'read'

// CommandSpec is a request to the API: any request, or an email between addresses that work.
export type CommandSpec = { request: Request; scope: Scope } | { email: Partial<Mail> }

// Command shows a curl command that works as it is: in development with the development key, otherwise with the key in
// the environment.
export function Command(spec: CommandSpec) {
  const { development, can } = useViewer()
  const sample = useSample()
  if (!sample) return <span className="skel h-24 w-full" />
  const request: Request = 'request' in spec ? spec.request : { path: '/emails', body: { from: sample.from, to: [sample.to], subject: 'Hello', text: 'It works.', ...spec.email } }
  const scope = 'request' in spec ? spec.scope : 'sending'
  const command = snippet('curl', location.origin, request)
  return (
    <div className="grid gap-2">
      <CodeBlock run="sh" text={development ? `${exportKey(development.apiKey)}\n${command}` : command} />
      {!development && (
        <p className="text-left text-xs text-ink-3">
          Set <code>{keyName}</code> to an API key with the scope <b className="font-medium text-ink-2">{scope}</b>.{can('WRITE') && <> <Link className="link under" to="/keys" search={{ create: scope } as never}>Create an API key</Link></>}
        </p>
      )}
    </div>
  )
}
