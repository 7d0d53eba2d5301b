// Package clockstep detects that the database clock stepped back, reports the step, and repairs times that
// were stored while the clock was ahead.
//
// Due times, leases, limits and expiries use the database clock. A clock that was an hour ahead and is
// corrected leaves rows that are due, locked or valid for an hour too long. Each module declares the
// columns of its tables that need repair (Repair), and a test of package app fails for a column that has no
// declaration.
//
// # Detection
//
// Each heartbeat of a process (runtime/work/node) reads the database clock. A process that measures less
// time on it than on its own monotonic clock has observed a step. A row of the table database_clocks stores
// the latest time, to within a minute. So a step is also detected if no process was running, and after a
// failover to a server whose clock is behind. Steps of less than MinStep are ignored.
//
// # Repair
//
// The step is logged and recorded in that row, where `postrider doctor`, GET /readyz and the metrics read
// it for a day. The record is settled when all repairs have run: if a process dies in between, the next one
// runs them again. Repairs are repeatable and safe to run concurrently.
//
// A lease is reset to its full length from now, so that a live owner keeps its row for as long as it
// expects to.
//
// Rows from before the step can become due later than they would have without it: a retry by as much as its
// longest pause.
package clockstep
