// Package handover hands queued text messages to providers.
//
// # At most once
//
// A message is claimed under a lease and a fencing number (runtime/base/worker). Its attempt is a row
// that is committed before the request is made (begin.go), so whatever dies leaves a trace. An
// attempt without an outcome that a later claim finds was cut off: the provider may have the
// message. It is then `unknown`, and no other request is made, unless the provider takes the same
// request twice and has not been changed since. Likewise for a request that was written and not
// answered.
//
// # Again
//
// Where nobody was reached, and after 429 and 5xx, the next attempt follows on a schedule, for 4
// hours after the message was accepted. Then it has failed.
//
// # Nobody holds up others
//
// One claim takes a few messages of each account, and a process has few requests of one account
// under way, so that a provider that hangs holds up its own account only.
package handover
