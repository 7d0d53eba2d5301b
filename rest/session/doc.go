// Package session is how people get in over the API: set-up, sign-in, sign-up, links, sessions, and
// what they change about themselves.
package session
