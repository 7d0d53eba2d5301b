// Package lifecycle defines the rules that the packages of module sending share: the states of an email and of
// its recipients, the allowed transitions, and the end of retries. It is pure: no database, no clock.
package lifecycle
