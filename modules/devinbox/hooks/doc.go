// Package hooks receives webhooks in development mode, like a customer's program would.
//
// Each account has a receiver with its own URL. The sender treats it like any other endpoint and posts to it
// over HTTP. The receiver checks the signature and stores the request. It responds with the status that its
// account configured, so that failures and retries can be observed.
//
// Requests are held in memory, up to Keep and maxHeld; the oldest are evicted first, and a stop discards them
// all. An account can only read its own requests.
package hooks
