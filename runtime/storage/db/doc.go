// Package db is the only way to access PostgreSQL: the connector, transactions, migrations, rows and
// statements, signals between processes, and the joining of concurrent writes.
//
// # Deadlines
//
// lib/pq ignores context deadlines while it waits for a server that is frozen or cut off. Every connection
// opened here therefore has a deadline on each read and write (Config.OpTimeout), and the server has shorter
// limits of its own for statements, locks and idle transactions, so that operations that are only slow end
// with an error of the server. After a missed deadline the server counts as stalled, and later operations get
// a fifth of the time until one succeeds: a call that must try several things still ends within 6 s.
// A statement with megabytes of arguments gets a second more for every 4 MB (DB.RunSized, PreparedTx).
//
// # Hosts
//
// The address may name several servers of one cluster. The last used server is tried first, and the others in
// parallel once it has been silent for a moment. Failures of a host before a connection to it is established
// do not count for the database. While two of them accept writes, none is used (package failover).
//
// # Connections
//
// The pools open no more connections than the share of this process (package capacity). If the server refuses
// a connection, callers wait for an open one.
//
// # Errors
//
// Errors are returned unchanged; fault.Classify distinguishes an unavailable database from a wrong statement.
// Nothing is retried here, with one exception made by database/sql outside transactions: a statement that
// certainly had no effect, because none of it was sent or the server refused it and closed the connection,
// runs on another connection. A truncated response is an error.
//
// # Entry points
//
// There are three. Each can be used for a single statement and for a transaction.
//
//	SQL, Ent   InTx          the ordinary pool. Ent and hand-written SQL in one transaction; for
//	                         everything that does not run thousands of times a minute.
//	Hot        InHotTx       hand-written SQL only, one round trip per statement instead of two
//	                         (binary_parameters): pass JSON as string, never as []byte.
//	                         For lookups by index: see Plans.
//	Prepared   InPreparedTx  the hot pool for constant statements, which the server parses and
//	                         plans once.
//
// In addition, Read is for lists, search and statistics, which another server may execute (package replica).
//
// # Plans
//
// The sessions of the hot pool make generic plans, which ignore parameter values, and avoid sequential scans.
// The server then plans a prepared statement once, and the plan is right from the first row on: before,
// planning took twice as long as executing. A search whose text or best plan depends on the request belongs
// to the ordinary pool. A test of package journeys compares the generic plans of all statements with those
// for full tables.
//
// # Rows
//
// All, One, Each and Exec run hand-written SQL through any entry point; no other code loops over sql.Rows.
// Array passes a list as an argument. A statement of up to ten parameters numbers them itself. A larger
// statement, or one assembled from fragments of several packages, is a Statement, whose parameters have
// names. A Query is for a text that depends on the request. Package batch writes the statements that store
// many rows.
//
// # Durability
//
// Open and each new connection reject a server that could lose confirmed data, a server of another cluster
// than the first, and a former primary after a failover. CheckReplication reports whether enough standbys follow.
package db
