// Package unsubscribe writes the link to unsubscribe with into a message: header fields for
// mail programs, and the place that the author of a body chose.
package unsubscribe
