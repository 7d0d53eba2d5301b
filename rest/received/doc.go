// Package received serves the resource received emails: reading and answering them, and the address rules of
// receiving domains.
package received
