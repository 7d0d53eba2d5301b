// Package exports allows each account one list export at a time, across all processes.
//
// A turn is a row with an end time. The export extends it while it runs, so the account of a process that
// dies cannot export for at most a minute and a half. The table is unlogged: after a crash of the database no
// account has a turn.
package exports
