// Package sms sends text messages through providers.
//
// # Terms
//
// A message (sms_…) goes to one number. It consists of parts, which the network carries and the provider bills
// separately (package segment). A provider carries messages. It belongs to the account or to the operator
// (package provider). An attempt is one request to a provider (package handover). A receipt is a later report
// of the provider (package callback). An opt-out is a number whose owner replied STOP (package optout). The
// settings of an account are in package settings.
//
// # States
//
//	queued ─▶ sent ─▶ delivered
//	  │  │      └───▶ failed      reported later by the provider
//	  │  └─▶ unknown ─▶ sent, delivered, failed    only by a receipt
//	  └────▶ failed
//
// An unknown message may have been sent, and is never sent again: a message that arrives twice costs money and
// trust, and providers have no idempotency keys.
//
// # Guarantees
//
//   - Send stores the message in its caller's transaction, after it has asked the guard. One step of a run
//     therefore sends one message, whichever process dies.
//   - A message goes only to countries that the account has chosen, and initially none is chosen. An account
//     has a daily cap, a number can receive 10 messages per hour, and a plan caps the messages sent through the
//     operator's provider. These limits stop attackers who earn money from messages to their own numbers (SMS
//     pumping).
//   - A recipient who replied STOP receives nothing from the account until START. This holds for STOP by reply
//     and as reported by the provider, for every spelling of the number, and after the number was erased.
//   - Provider secrets are sealed, and are sent only to the address that they were entered for. A new address
//     requires entering them again.
//
// The module does no work while emails are accepted or delivered.
package sms
