// Package unsubscribe adds the unsubscribe link to a message: in header fields for mail clients, and in place
// of the placeholder in a body.
package unsubscribe
