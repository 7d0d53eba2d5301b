// Package hooks receives webhooks in development mode, as a customer's program would.
//
// Each account has a receiver with a URL of its own. The delivering side knows nothing of it: it posts
// there over HTTP as to any endpoint. The receiver checks the signature, answers what its account has
// told it to answer, so that failures and retries can be seen, and remembers the request.
//
// Requests are held in memory, up to Keep and maxHeld, the oldest go first, and a stop forgets them all.
// An account reads its own requests only.
package hooks
