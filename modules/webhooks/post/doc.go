// Package post makes one POST to the endpoint of a webhook: it judges where an endpoint may be,
// signs the body, and says in words for the endpoint's owner why there was no answer.
//
// Only public addresses are reached, and ranges that the operator allows. An address is judged
// when an endpoint is made or changed, which helps whoever mistypes, and again when it is
// dialled (runtime/web/egress), which is the judgment that counts.
//
// The package knows no database. What an answer means for a delivery is decided by webhooks.
package post
