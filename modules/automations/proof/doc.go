// Package proof signs the requests of runs with keys derived from the master key.
//
// The request of a webhook step is signed like deliveries to webhook endpoints (runtime/web/webhooksig), with a
// secret of the account. It also carries a cause: the run that sent it, and the length of the chain of runs
// that led to it. A program that posts an event in response returns the cause in the header Postrider-Cause, so
// that automations that trigger each other through another service stop eventually.
//
// While the master key is being rotated, requests are signed with the secrets of both keys, and causes of both
// are accepted.
package proof
