// Package post makes one POST to a webhook endpoint. It checks the URL, signs the body, and explains to the
// endpoint's owner why there was no answer.
//
// Only public addresses are reached, and ranges that the operator allows. URLs are checked when an endpoint
// is created or changed, which catches mistakes. Addresses are checked again when they are dialed
// (runtime/web/egress), and that check is decisive.
//
// The package does not use the database. Package webhooks decides what an answer means for a delivery.
package post
