// Package policy decides who may send what to whom. It is consulted when an email is accepted, and again when
// a scheduled one is released. It is pure: no database, no clock.
package policy
