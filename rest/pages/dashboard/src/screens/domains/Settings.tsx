import { testMode } from '@/api/mode'
import { unwrap, rest } from '@/api/rest'
import { useState } from 'react'
import type { components } from '@/api/rest.gen'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Field, useWrite } from '@/parts/Form'
import { Card } from '@/parts/Page'
import { Switch } from '@/parts/Switch'
import type { Domain } from './Page'

type Mode = Domain['mtaSts']

const modes: Record<Mode, Change['mta_sts']> = { OFF: 'off', NONE: 'none', TESTING: 'testing', ENFORCE: 'enforce' }

const policies: Record<Mode, string> = {
  OFF: 'Senders choose whether to use TLS. With a policy, you get two DNS records to publish.',
  NONE: 'Senders discard the earlier policy. After a week, choose “No policy” and remove the records.',
  TESTING: 'Senders report TLS failures but still deliver. Update the MTA-STS record after each change.',
  ENFORCE: 'Senders deliver only over TLS with a valid certificate. Update the MTA-STS record after each change.',
}

type Change = components['schemas']['UpdateDomain']

// Bimi is saved with a button, unlike the other settings, because a URL is incomplete while it is typed.
function Bimi({ domain, locked, save, errors }: { domain: Domain; locked: boolean; save: (body: Change) => void; errors: Record<string, string> }) {
  const [logo, setLogo] = useState(domain.bimiLogoUrl ?? '')
  const [certificate, setCertificate] = useState(domain.bimiCertificateUrl ?? '')
  const same = logo === (domain.bimiLogoUrl ?? '') && certificate === (domain.bimiCertificateUrl ?? '')
  return (
    <form className="grid gap-3" onSubmit={(e) => { e.preventDefault(); save({ bimi_logo_url: logo.trim() || null, bimi_certificate_url: certificate.trim() || null }) }}>
      <Field label="BIMI logo URL" hint="An SVG Tiny PS file on your web server. Postrider checks it and proposes the DNS record. Leave empty for no record." error={errors.bimi_logo_url}>
        {(p) => <input {...p} type="url" className="input" value={logo} disabled={locked} placeholder="https://example.com/logo.svg" onChange={(e) => setLogo(e.target.value)} />}
      </Field>
      <Field label="BIMI certificate URL" hint="The PEM file of a VMC or CMC. Gmail and Apple Mail require one." error={errors.bimi_certificate_url}>
        {(p) => <input {...p} type="url" className="input" value={certificate} disabled={locked} placeholder="https://example.com/vmc.pem" onChange={(e) => setCertificate(e.target.value)} />}
      </Field>
      <div><button type="submit" className="btn" disabled={locked || same}>Save BIMI settings</button></div>
    </form>
  )
}

// Settings saves each change immediately.
export function Settings({ domain, read }: { domain: Domain; read: () => Promise<unknown> }) {
  const { can, has } = useViewer()
  const save = useWrite(async (body: Change) => {
    await unwrap(rest.PATCH('/domains/{id}', { params: { path: { id: domain.id } }, body }))
    await read()
    toast.success('Saved')
  })
  const locked = !can('DEFINE') || save.busy
  const early = domain.status === 'PENDING'
  const ed25519 = domain.dkimKeys.some((k) => k.algorithm.startsWith('ed25519') && k.status !== 'retired')
  return (
    <Card title="Settings" footer={<span>{can('DEFINE') ? 'Changes are saved immediately and apply to new mail.' : testMode ? 'These are the settings of live mode.' : 'Your role can view these settings but not change them.'}</span>}>
      <div className="grid max-w-[640px] gap-5">
        {early && <p className="rounded-control bg-warn-soft px-3 py-2 text-warn">Tracking and TLS are available once the domain is verified.</p>}
        {has('tracking') && (
          <>
            <Switch label="Track opens" on={domain.openTracking} disabled={locked || early} set={(on) => void save.run({ open_tracking: on })}>Adds an invisible image to HTML. Loads by mail proxies are marked as automated.</Switch>
            <Switch label="Track clicks" on={domain.clickTracking} disabled={locked || early} set={(on) => void save.run({ click_tracking: on })}>Links redirect through Postrider.</Switch>
          </>
        )}
        <Field label="TLS to receiving servers" hint={domain.tlsMode === 'ENFORCED' ? 'Without a verified certificate, mail isn’t delivered.' : 'Used when the receiving server supports it.'} error={save.fieldErrors.tls_mode}>
          {(p) => (
            <select {...p} className="input max-w-[320px]" value={domain.tlsMode} disabled={locked || early} onChange={(e) => void save.run({ tls_mode: e.target.value === 'ENFORCED' ? 'enforced' : 'opportunistic' })}>
              <option value="OPPORTUNISTIC">Opportunistic</option>
              <option value="ENFORCED">Required (verified certificate)</option>
            </select>
          )}
        </Field>
        {has('inbound') && <Switch label="Receive email for this domain" on={domain.inboundEnabled} disabled={locked} set={(on) => void save.run({ inbound_enabled: on })}>Once the domain is verified, you get an MX record to publish. All email to the domain then arrives here.</Switch>}
        {has('inbound') && (domain.inboundEnabled || domain.mtaSts !== 'OFF') && (
          <Field label="TLS of incoming mail (MTA-STS)" hint={policies[domain.mtaSts]} error={save.fieldErrors.mta_sts ?? save.fieldErrors.inbound_enabled}>
            {(p) => (
              <select {...p} className="input max-w-[320px]" value={domain.mtaSts} disabled={locked} onChange={(e) => void save.run({ mta_sts: modes[e.target.value as Mode] })}>
                <option value="OFF">No policy</option>
                <option value="TESTING">Testing</option>
                <option value="ENFORCE">Enforced</option>
                <option value="NONE">Being withdrawn</option>
              </select>
            )}
          </Field>
        )}
        <Switch label="Also sign with Ed25519" on={ed25519} disabled={locked} set={(on) => void save.run({ ed25519: on })}>A second, shorter signature in addition to RSA (RFC 8463). It needs its own DNS record.</Switch>
        <Bimi domain={domain} locked={locked} save={(body) => void save.run(body)} errors={save.fieldErrors} />
        {save.error !== null && <ErrorAlert title="Not saved" error={save.error} />}
      </div>
    </Card>
  )
}
