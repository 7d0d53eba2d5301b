// Package provider hands text messages to those who carry them, and reads what they tell later.
//
// There are three kinds: one that speaks Twilio's REST interface, as many others do as well; any
// other that takes an HTTP request (Gateway); and Capture, which keeps everything on this machine.
//
// # What an answer says
//
// Sent: the provider has taken the message. Failed: it refused it for good. Temporary: nobody was
// reached, or the provider answered 429 or 5xx, and the same request may be made again. Unknown:
// the request may have been written and no answer came. Providers have no keys of idempotency, so
// the same request may send the message a second time: it is made again only where the owner of the
// gateway says that it may be (Idempotent).
//
// Each request has a connection of its own. On one that was used before, a request could fail
// because the server has just closed it, and nobody knows then what was read of it.
//
// The package knows no database.
package provider
