// Package callback processes the callbacks of SMS providers: receipts, which report the status of a message, and
// replies of its recipient. Providers repeat both, in any order. Forged callbacks change nothing.
package callback
