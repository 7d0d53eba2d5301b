// Package proof signs what runs do outside, with keys that are derived from the master key.
//
// A request of a webhook step has a signature, as deliveries to webhook endpoints have
// (runtime/web/webhooksig), with a secret of the account. It also has a cause: which run it comes
// from, and how many runs have caused one another up to that one. Whoever posts an event in
// answer gives the cause back (header Postrider-Cause), so that automations that trigger each
// other by way of another service come to an end.
//
// While the master key is being changed, requests are signed with the secrets of both keys, and
// causes of both are taken.
package proof
