// Package post makes one POST to a webhook endpoint. It checks the URL, signs the body, and explains a missing
// response to the endpoint's owner.
//
// Only public addresses and ranges that the operator allows are reachable. URLs are checked when an endpoint is
// created or changed, which catches mistakes. The decisive check is the one of runtime/web/egress when an
// address is dialed.
//
// The package does not use the database. Package webhooks decides the consequences of a response for a delivery.
package post
