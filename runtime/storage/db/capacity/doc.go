// Package capacity keeps the pools of a process within the connections that the server has room for.
//
// # Share
//
// The room is what the server, the role and the database allow together. Each new connection reads it. The processes
// that live divide it evenly: a process opens at most its share, and never more than it is configured to. A few
// connections stay free for commands and for other programs.
//
// # Refusals
//
// A server may refuse a connection all the same: other programs use it too, and a process that has just started
// needs its share before the others have given it up. That is no reason to fail while the pool has other
// connections. The pool then lowers its ceiling to the connections that it has, and the caller waits for one of
// them like any caller of a full pool. A pool without any connection tries again for a moment.
//
// The ceiling of a pool that uses all its connections rises again: a second later by one connection, then by two, by
// four and so on, up to the share. A refusal on the way ends the rise, and the next one begins later.
package capacity
