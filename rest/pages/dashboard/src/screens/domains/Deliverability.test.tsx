// @vitest-environment happy-dom
import { act } from 'react'
import { createRoot } from 'react-dom/client'
import { expect, test } from 'vitest'
import { DeliverabilityView, type Report } from './Deliverability'

;(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true

async function show(report: Report, publish?: (dmarc: string) => void) {
  const root = document.body.appendChild(document.createElement('div'))
  await act(async () => createRoot(root).render(<DeliverabilityView report={report} publish={publish} />))
  const rows = (label: string) => [...root.querySelectorAll(`table[aria-label="${label}"] tbody tr`)].map((tr) => [...tr.querySelectorAll('td')].map((td) => td.textContent))
  return { root, rows }
}

const share = (messages: number, dmarc: number) => ({ messages, dmarc, dkim: dmarc, spf: 0, quarantined: 2, rejected: 0 })
const counts = { recipients: 200, delivered: 190, delayed: 10, bounced: 4, complained: 1, median_seconds: 1.84 as number | null }

const empty: Report = {
  domain_id: 'dom_1', domain: 'example.com', since: '2026-11-01', until: '2026-11-30', grade: 'unknown', reasons: [], requirements: [],
  totals: share(0, 0), receivers: [], sources: [], placement: [],
  advice: { verdict: 'wait', policy: null, days: 0, messages: 0, at_risk: 0, unknown: 0, reason: 'The domain has no DMARC record.', record: 'v=DMARC1; p=none; rua=mailto:dmarc+x@rp.example.org' },
  reporting: { address: 'dmarc+x@rp.example.org', reports: 0, last_report_at: null, refused: [], authorization: { name: 'example.com._report._dmarc.rp.example.org', value: 'v=DMARC1;', status: 'missing' } },
  degradations: [], blocklists: [], feedback_loops: [{ provider: 'Yahoo', name: 'Complaint Feedback Loop', complaints: 0, about: 'Yahoo reports complaints.', fix: 'Register example.com.', page: 'https://senders.yahooinc.com/' }],
  bimi: [],
  tls: { reports: 0, last_report_at: null, succeeded: 0, failed: 0, days: [], receivers: [], failures: [] },
}

const full: Report = {
  ...empty, grade: 'poor', reasons: ['alignment'],
  requirements: [{ code: 'alignment', providers: ['Gmail', 'Yahoo'], since: '2024-02-01', state: 'broken', found: '80 % passes.', fix: 'Sign the mail with DKIM.' }],
  receivers: [{ receiver: '<img src=x onerror=alert(1)>.example', ...share(1200, 1188) }],
  sources: [
    { address: '192.0.2.25', name: 'out.example.org', service: 'Unused', ours: true, at_risk: 0, ...share(1000, 1000) },
    { address: '198.51.100.7', name: 'o1.\u202esendgrid.net', service: 'SendGrid', ours: false, at_risk: 12, ...share(200, 0) },
  ],
  placement: [{ provider: 'Gmail', recipient_domains: ['gmail.com'], last_7_days: counts, previous_7_days: { ...counts, recipients: 0, delivered: 0, delayed: 0, bounced: 0, complained: 0, median_seconds: null }, causes: [{ cause: 'block', recipients: 1, reason: 'The provider distrusts this domain.', fix: 'Ask the provider.', reply: '550 <img src=x>\u202e' }] }],
  degradations: [{ provider: 'Gmail', problem: 'deferred', since: '2026-11-29T09:00:00Z', recipients: 200, affected: 90, previous_share: 0.01, cause: 'throttle', reason: 'The provider limits mail.', fix: 'Send less mail.', reply: '421 <img src=x>\u202e' }],
  blocklists: [
    { subject: '192.0.2.25', list: 'bl.example', status: 'listed', checked_at: '2026-11-29T09:00:00Z', listed_since: '2026-11-29T08:00:00Z', found: '192.0.2.25 is listed in bl.example.', fix: 'Ask the list.', page: 'https://bl.example/remove' },
    { subject: 'example.com', list: 'dbl.example', status: 'refused', checked_at: '2026-11-29T09:00:00Z', listed_since: null, found: 'dbl.example does not answer.', fix: 'Use another resolver.', page: null },
  ],
  advice: { ...empty.advice, verdict: 'keep', policy: 'none', record: null },
  reporting: { ...empty.reporting, reports: 30, refused: [{ reason: 'unauthenticated', messages: 2 }], authorization: { ...empty.reporting.authorization, status: 'verified' } },
  tls: {
    reports: 2, last_report_at: null, succeeded: 1500, failed: 3,
    days: [{ day: '2026-11-28', succeeded: 900, failed: 0 }, { day: '2026-11-29', succeeded: 600, failed: 3 }],
    receivers: [{ receiver: 'google.com', organization: '<img src=x>\u202e', succeeded: 1500, failed: 3 }],
    failures: [{ type: 'certificate-expired', policy: 'sts', sessions: 3, reason: 'The certificate has expired.', fix: 'Renew the certificate.' }],
  },
}

test('a domain without reports shows the record and the authorization to publish', async () => {
  const { root } = await show(empty)
  expect(root.textContent).toContain('No DMARC reports yet.')
  expect(root.textContent).toContain('Publish this record: v=DMARC1; p=none; rua=mailto:dmarc+x@rp.example.org'.replace(': ', ':\u00a0'))
  expect(root.textContent).toContain('example.com._report._dmarc.rp.example.org TXT "v=DMARC1;"')
  expect(root.textContent).toContain('No TLS reports yet. If example.com receives mail here')
  expect(root.querySelector('table')).toBeNull()
})

test('figures are those of the report, and names of strangers stay text', async () => {
  const { root, rows } = await show(full)
  expect(rows('Messages by server')).toEqual([
    ['192.0.2.25Postriderout.example.org', '1,000', '100 %', '0'],
    ['198.51.100.7SendGrido1.⟨U+202E⟩sendgrid.net', '200', '0 %', '12'],
  ])
  expect(rows('Messages by receiver')).toEqual([['<img src=x onerror=alert(1)>.example', '1,200', '99 %', '99 %', '0 %', '2', '0']])
  expect(rows('Delivery by mailbox provider')).toEqual([['Gmail', '200 (0)', '95 % (none)', '5.0 % (none)', '2.0 % (none)', '0.50 % (none)', '1.8 s (none)']])
  expect(root.textContent).toContain('GmailThe provider distrusts this domain.1 recipient550 <img src=x>⟨U+202E⟩Fix: Ask the provider.')
  expect(root.querySelector('img')).toBeNull()
  expect(root.textContent).toContain('1,500 sessions succeeded, 3 failed, in 2 reports.')
  expect(root.textContent).toContain('The certificate has expired.3 sessionscertificate-expired, MTA-STSFix: Renew the certificate.')
  expect(rows('TLS sessions by organization')).toEqual([['google.com<img src=x>⟨U+202E⟩', '1,500', '3']])
  expect(rows('TLS sessions by day')).toEqual([['2026-11-29', '600', '3'], ['2026-11-28', '900', '0']])
  expect(root.textContent).toContain('Fix: Sign the mail with DKIM.')
  expect(root.textContent).toContain('unauthenticated (2)')
  expect(root.textContent).not.toContain('Publish this record')
})

test('problems at providers, listings and feedback loops show the cause and the fix', async () => {
  const { root } = await show(full)
  expect(root.textContent).toContain('Gmail defers your mail45 % of 200 recipients1.0 % in the week before')
  expect(root.textContent).toContain('Likely cause: The provider limits mail.421 <img src=x>⟨U+202E⟩Fix: Send less mail.')
  expect(root.textContent).toContain('192.0.2.25Listed')
  expect(root.textContent).toContain('example.comNo answer for us')
  expect([...root.querySelectorAll('a')].map((a) => a.getAttribute('href'))).toEqual(['https://bl.example/remove', 'https://senders.yahooinc.com/'])
  expect(root.textContent).toContain('Yahoo: Complaint Feedback LoopNo complaints')
})

test('the findings about a logo show what to fix, and texts of its files stay text', async () => {
  const { root } = await show({ ...full, bimi: [
    { code: 'logo_title', state: 'met', found: 'The title is "<img src=x>\u202e".', fix: null },
    { code: 'certificate', state: 'close', found: 'There is no mark certificate.', fix: 'Obtain one.' },
  ] })
  expect(root.textContent).toContain('TitleMetThe title is "<img src=x>⟨U+202E⟩".')
  expect(root.textContent).toContain('Mark certificateNot enough for all providersThere is no mark certificate.Fix: Obtain one.')
  expect(root.querySelector('img')).toBeNull()
  expect((await show(full)).root.textContent).not.toContain('BIMI')
})

test('the proposed record can be published by those who may', async () => {
  const published: string[] = []
  const press = async (root: HTMLElement) => {
    const button = [...root.querySelectorAll('button')].find((b) => b.textContent === 'Publish to DNS provider')
    await act(async () => button?.click())
    return button !== undefined
  }
  expect(await press((await show(empty, (dmarc) => published.push(dmarc))).root)).toBe(true)
  expect(published).toEqual(['v=DMARC1; p=none; rua=mailto:dmarc+x@rp.example.org'])
  expect(await press((await show(empty)).root)).toBe(false)
  expect(await press((await show(full, () => undefined)).root)).toBe(false)
})
