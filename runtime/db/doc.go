// Package db is the one way to PostgreSQL: the connector, transactions,
// migrations, signals between processes and the joining of concurrent writes.
//
// Deadlines. lib/pq ignores context deadlines while it waits for a server that
// is frozen or cut off. Every connection made here therefore has a deadline on
// each read and write (Config.OpTimeout), and the server has shorter limits of
// its own for statements, locks and idle transactions, so that what is merely
// slow ends with the server's answer. Once a deadline has passed, the server is
// taken for stalled and later operations get a fifth of the time, until one
// succeeds: a call that has to try several things still ends within 6 s.
//
// Errors come back as they are; fault.From tells a database that is away from a
// statement that is wrong. Nothing is retried here, with one exception made by
// database/sql outside transactions: a statement that certainly had no effect,
// because none of it was sent or the server refused it and closed the
// connection, runs on another one. An answer that was cut off is an error.
//
// Two handles. DB.SQL (and DB.Ent over it) is the ordinary pool. DB.Hot saves a
// round trip per statement (binary_parameters) and is for hand-written SQL
// only: JSON goes there as string, never as []byte.
//
// Durability. Open refuses a server that would lose what it confirmed.
package db
