// Package months partitions the tables that grow with mail by month, so that the indexes that take new rows
// stay small, old months are no longer written to, and the disk space of a month that no retention setting
// needs is freed immediately.
//
// # Terms
//
// A table is plain or split. A split table is a PostgreSQL partitioned table whose rows are in months. A
// month is a range of ids, because ids begin with the time (runtime/base/id): the primary key is still (id),
// and foreign keys are kept. Recipients and attempts have numeric ids, which do not contain the time: their
// months are ranges of email ids, and statements that look them up also use those. A bound is the smallest id
// of a month. Before the first month and after the last one there are two more parts, the past and the rest:
// together the parts cover every possible id, so no row is rejected because of its month.
//
// # Moving
//
// Move splits a plain table without copying a row: the table becomes the first month, which ends a month or
// two in the future. A constraint ensures that it holds no later id, and is validated without blocking
// traffic. Then one short transaction renames the table, creates the split table under its name and attaches
// the old table, whose indexes are reused. References to it are created again in the same transaction and
// validated afterwards without blocking traffic. After each step the database is consistent, and Move
// continues after the completed steps. Undo reverts the split while only the first month has rows.
//
// # Keeping
//
// Maintain creates months ahead of time and drops those that are over and empty. How long rows are kept is
// decided by their owners. Most owners delete them one by one as in a plain table; an owner that no longer
// needs any row of a month can report this (DropRule), and the month is dropped with its rows. Both operations
// briefly take locks that block all requests for the table: if a lock is not granted within lockWait, the
// attempt ends, lets the traffic continue, and is repeated. That is shorter than PostgreSQL's deadlock timeout,
// so requests are never canceled as deadlock victims. Autovacuum is not canceled either; it is interrupted
// separately (runtime/storage/db/locks).
//
// A rest with rows (no process ran for months, or a clock is wrong) is turned into a month by Move; Maintain
// only reports it.
//
// # References
//
// PostgreSQL (up to 17) cannot add a reference to a split table without reading it under the lock. If the
// referring table is split itself, its parts therefore have individual references for a time, each validated
// without blocking traffic, and finally one for the whole table.
//
// # Unique indexes
//
// An index of a split table can only be unique if it contains the column of the months. The keys of
// recipients and attempts then include the email's id. They still ensure the same uniqueness, as each row has
// one email, and numbers come from one sequence that is handed over. The keys are created without blocking
// traffic before the exchange, also on the way back. The indexes on the numbers alone are kept, not unique,
// for older programs and for operators.
//
// Webhook deliveries, which were unique by event and endpoint, have ids derived from the two, so that the
// primary key has the same effect. Older programs do not know that: they are rejected after the move, and the
// index is created again without being unique.
package months
