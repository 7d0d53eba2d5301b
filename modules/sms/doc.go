// Package sms sends text messages to numbers, through providers.
//
// # Words
//
// A message (sms_…) goes to one number. Its parts are what the network carries one by one and what
// the provider bills (package segment). A provider carries messages: an account's own, or the
// operator's (package provider). An attempt is one request to a provider (package handover). A
// receipt is what the provider tells later (package callback). An opt-out is a number whose owner has
// said STOP (package optout). What an account has chosen stands in package settings.
//
// # States
//
//	queued ─▶ sent ─▶ delivered
//	  │  │      └───▶ failed      the provider says so later
//	  │  └─▶ unknown ─▶ sent, delivered, failed    only by a receipt
//	  └────▶ failed
//
// What is unknown may have been sent, and is never sent again: a message that comes twice costs
// money and trust, and providers have no keys of idempotency.
//
// # What is promised
//
//   - Send stores the message in the transaction of its caller, whose guard is asked before. So one
//     step of a run sends one message, whatever dies.
//   - Nothing goes to a country that the account has not chosen, and none is chosen at first. An
//     account has a cap for a day, a number gets 10 messages in an hour, and a plan caps what goes
//     by the operator's provider: who can have a service send to numbers of his choice earns by it
//     (SMS pumping).
//   - Who has said STOP gets nothing from the account until START: by a reply, by the provider's
//     word, by whatever spelling of the number, also when the number was erased.
//   - Secrets of providers are sealed, and go only where they were set up for: another address
//     needs them anew.
//
// The module reads nothing and writes nothing while emails are accepted or delivered.
package sms
