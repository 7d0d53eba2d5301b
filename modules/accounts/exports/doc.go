// Package exports gives each account one export of a list at a time, over all processes.
//
// A turn is a row with an end. Who has the turn moves the end on while the export lasts, so a process
// that dies leaves the account without exports for a minute and a half at most. The table is unlogged:
// after a crash of the database there is no turn that anybody has.
package exports
