// Package hooks receives webhooks in development mode, as a customer's program would.
//
// Each account has a receiver with its own URL. The sender treats it like any other endpoint and posts to
// it over HTTP. The receiver checks the signature, responds with the status that its account configured, so
// that failures and retries are visible, and stores the request.
//
// Requests are held in memory, up to Keep and maxHeld, oldest evicted first, and a stop discards them all.
// An account reads its own requests only.
package hooks
