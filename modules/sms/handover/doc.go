// Package handover submits queued text messages to providers.
//
// # At most once
//
// A message is claimed under a lease and a fencing number (runtime/base/worker). A row for the attempt is
// committed before the request (run.go), so that a crash leaves a trace. If a later claim finds an attempt
// without an outcome, the attempt was interrupted and the provider may have the message. The message is then
// `unknown`, and no other request is made, unless the provider is idempotent and has not been changed since.
// The same applies to a request that was written but got no response.
//
// # Retries
//
// If the provider was not reached, and after 429 and 5xx, the next attempt follows on a schedule, until 4 hours
// after the message was accepted. Then the message has failed.
//
// # Isolation
//
// A claim takes a few messages per account, and a process has few concurrent requests per account. A hanging
// provider therefore delays only its own account.
package handover
