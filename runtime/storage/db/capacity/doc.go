// Package capacity keeps the connection pools of a process within the limits of the server.
//
// # Share
//
// The room is the number of connections that the server, the role and the database allow together. Each new
// connection reads it. The live processes divide it evenly: a process opens at most its share, and never more
// than configured. A few connections stay free for commands and for other programs.
//
// # Refusals
//
// A server may still refuse a connection: other programs use it too, and a process that has just started
// needs its share before the others have released it. Callers do not fail while the pool has other
// connections. The pool then lowers its ceiling to the connections that it has, and the caller waits for one
// of them as with any full pool. A pool without connections retries for a moment.
//
// The ceiling of a pool that uses all its connections rises again: after a second by one connection, then by
// two, by four and so on, up to the share. A refusal on the way ends the rise, and the next one starts later.
package capacity
