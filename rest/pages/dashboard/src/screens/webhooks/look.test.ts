import { expect, it } from 'vitest'
import { isFailing, lookOfDelivery, lookOfWebhook, pendingOf, rateText } from './look'

const figures = { deliveries: 1200, succeeded: 40, failed: 46, attempts: 3000, latency: null }

it('counts attempts, so that an endpoint that retries everything does not look healthy', () => {
  expect(rateText({ succeeded: 0, attempts: 12 })).toBe('0.0 %')
  expect(rateText({ succeeded: 12, attempts: 12 })).toBe('100 %')
  expect(rateText({ succeeded: 0, attempts: 0 })).toBe('–')
  expect(pendingOf(figures)).toBe(1114)
})

it('shows an enabled endpoint that fails in amber, and a disabled one as disabled', () => {
  expect(isFailing(figures)).toBe(true)
  expect(lookOfWebhook({ enabled: true, disabledReason: null }, figures)).toMatchObject({ word: 'Failing', tone: 'warn' })
  expect(lookOfWebhook({ enabled: false, disabledReason: 'failing' }, figures)).toMatchObject({ word: 'Disabled', tone: 'bad' })
  expect(lookOfWebhook({ enabled: true, disabledReason: null })).toMatchObject({ word: 'Enabled' })
})

it('retries nothing while the endpoint is off', () => {
  const delivery = { state: 'PENDING' as const, attemptCount: 2, statusCode: 500, error: null }
  expect(lookOfDelivery(delivery).word).toBe('Retrying')
  expect(lookOfDelivery(delivery, false).word).toBe('Paused')
})
