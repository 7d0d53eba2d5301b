// Package proof signs the requests of runs with keys derived from the master key.
//
// The request of a webhook step is signed like deliveries to webhook endpoints (runtime/web/webhooksig),
// with a secret of the account. It also carries a cause: the run it comes from, and the length of the
// chain of runs that caused it. A program that posts an event in response returns the cause (header
// Postrider-Cause), so that automations that trigger each other through another service come to an end.
//
// While the master key is being changed, requests are signed with the secrets of both keys, and causes of
// both are accepted.
package proof
