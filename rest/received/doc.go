// Package received serves the resource received emails: reading them, replying to them and forwarding them, and the
// address rules of receiving domains.
package received
