// Package lifecycle defines what the packages of module sending share: the states of an email and of its
// recipients, the allowed transitions, and when retries end. It is pure: no database, no clock.
package lifecycle
