// Package hold keeps the whole installation from sending: mail, scheduled mail and
// webhooks. It is for a database that was restored to a moment: its rows say that mail is
// waiting that had left after that moment, and would leave a second time.
//
// A hold is one row, so that every process obeys it, and so that it can stand in a database
// before the first process opens it. Requests are accepted meanwhile, and what they bring
// in waits. Each process reads the row with its beat (runtime/work/node), every two seconds.
package hold
