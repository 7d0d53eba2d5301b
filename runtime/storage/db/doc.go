// Package db is the one way to PostgreSQL: the connector, transactions,
// migrations, rows and statements, signals between processes and the joining of
// concurrent writes.
//
// Deadlines. lib/pq ignores context deadlines while it waits for a server that
// is frozen or cut off. Every connection made here therefore has a deadline on
// each read and write (Config.OpTimeout), and the server has shorter limits of
// its own for statements, locks and idle transactions, so that what is merely
// slow ends with the server's answer. Once a deadline has passed, the server is
// taken for stalled and later operations get a fifth of the time, until one
// succeeds: a call that has to try several things still ends within 6 s.
//
// Hosts. The address may name several servers of one cluster. The one that worked last is tried
// first, and the others beside it once it has been silent for a moment. What a host does
// before a connection to it is made says nothing of the database. While two of them take writes, none
// is used (package failover).
//
// Connections. The pools open no more than the share of this process (package capacity). A server that
// refuses a connection makes callers wait for those that are open.
//
// Errors come back as they are; fault.From tells a database that is away from a
// statement that is wrong. Nothing is retried here, with one exception made by
// database/sql outside transactions: a statement that certainly had no effect,
// because none of it was sent or the server refused it and closed the
// connection, runs on another one. An answer that was cut off is an error.
//
// Doors. There are three. Each can be used for one statement by itself and for a
// transaction.
//
//	SQL, Ent   InTx          the ordinary pool. Ent and hand-written SQL in one transaction; the
//	                         door for everything that is not done thousands of times a minute.
//	Hot        InHotTx       hand-written SQL only, one round trip a statement instead of two
//	                         (binary_parameters): JSON goes there as string, never as []byte.
//	                         For look-ups by an index: see the next paragraph.
//	Prepared   InPreparedTx  the hot pool for statements of constant text, which the server
//	                         parses and plans once.
//
// Read is beside them: lists, search and statistics, which another server may answer (package
// replica).
//
// Plans. The sessions of the hot pool make generic plans, which do not look at the values
// of parameters, and do without sequential scans. The server then plans a kept statement
// once, and the plan is right from the first row on: planning took twice as long as
// executing before. A search whose text or best plan depends on what is asked belongs to
// the ordinary pool. A test of package journeys holds the kept plans of all statements to
// those that full tables give.
//
// Rows. All, One, Each and Exec run hand-written SQL through any door; nobody else loops
// over sql.Rows. Array makes an argument of a list. A statement of up to ten parameters
// numbers them itself. A larger one, or one that is joined of fragments of several
// packages, is a Statement, whose parameters have names. A Query is for a text that
// depends on what is asked. Package batch writes the statements that store many rows.
//
// Durability. Open, and each new connection, refuses a server that would lose what it
// confirmed, one that has other data than the first, and one that a fail-over has left behind.
// Replicated tells whether as many standbys follow as are asked for.
package db
