// Package callback processes the callbacks of SMS providers: receipts, which report the status of a message,
// and replies from its recipient. Providers may repeat and reorder both. Forged callbacks change nothing.
package callback
