// Package policy decides whether an account may send a message to its recipients. It is consulted when an email
// is accepted, and again when a scheduled email is released. It is pure: no database, no clock.
package policy
