// Package unsubscribe inserts the unsubscribe link into a message: header fields for mail clients, and the
// placeholder in a body.
package unsubscribe
