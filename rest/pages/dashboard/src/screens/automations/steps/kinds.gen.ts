// Written by `npm run codegen`; do not edit.
import type { StepKind } from './kind'
import branch from './branch'
import condition from './condition'
import delay from './delay'
import end from './end'
import sendEmail from './sendEmail'
import sendSms from './sendSms'
import split from './split'
import waitForEvent from './waitForEvent'
import waitUntil from './waitUntil'
import webhook from './webhook'

export const stepKinds = { branch, condition, delay, end, send_email: sendEmail, send_sms: sendSms, split, wait_for_event: waitForEvent, wait_until: waitUntil, webhook } satisfies Record<string, StepKind>

// requiredFields are the fields of each type that must not be empty. Lists have their own rules.
export const requiredFields: Partial<Record<string, string[]>> = { branch: [], condition: ['if'], delay: ['duration'], end: [], send_email: [], send_sms: ['to', 'text'], split: [], wait_for_event: ['event', 'timeout'], wait_until: [], webhook: ['url'] }
