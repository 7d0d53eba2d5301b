// Package lifecycle has what the rooms of module sending share: the states of an email and
// of its recipients, what may follow which, and when trying ends. It is pure: no database,
// no clock.
package lifecycle
