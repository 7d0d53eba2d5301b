// Package exports limits each account to one list export at a time, across all processes.
//
// A turn is a row with an end time. The running export extends it, so if its process dies, the account cannot
// export for at most 90 seconds. The table is unlogged: after a crash of the database no account has a turn.
package exports
