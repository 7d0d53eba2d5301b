// Package hold stops the whole installation from sending: mail, scheduled mail and webhooks. It is for a
// database that was restored to a point in time: its rows contain queued mail that was sent after that
// point, and would be sent a second time.
//
// A hold is one row, so that every process obeys it, and so that it can be in a database before the first
// process opens it. Requests are still accepted, and the resulting mail is queued. Each process reads the
// row with its beat (runtime/work/node), every two seconds.
package hold
