// Package intake bounds the memory, disk space and connections that clients can make this process hold:
// HTTP bodies and responses, messages received over SMTP, large contents read from the database, and
// messages being composed. All entry points share one Budget.
//
// # Parts
//
// A Budget has five parts. Each is a Pool, and nothing is reserved before data has arrived.
//
//	arriving   64 MiB   memory for small contents (the entry point defines small)
//	spool       2 GiB   files of large contents (POSTRIDER_SPOOL_BYTES)
//	working   512 MiB   memory to process large contents that have arrived completely
//	bodies      4,096   HTTP bodies arriving at a time
//	reads           8   large contents read from the database at a time
//
// A Content begins in memory. When it outgrows the limit of its entry point, or its share of the memory is
// used up, it continues in a file. The file is unlinked as soon as it is open, so that a process that dies
// leaves no files. The spool also leaves a twentieth of its disk free, or 1 GiB of a large disk.
// Bytes maps the file, so that a parser can read it as memory and the kernel can evict that memory.
//
// These are the sizes for a process with 2 GiB of memory. With less, arriving, working and bodies shrink in
// proportion, and so does the number of connections (Budget.Connections).
//
// # Requests and responses
//
// Every HTTP server wraps its handler in Budget.LimitHandler, so no handler is outside the budget. A response
// of more than 8 KB becomes a Content, which is sent after its handler has returned; a handler that flushes
// streams it. Texts that are the same for all clients exist once and are not counted (WriteShared).
//
// # Shares
//
// Everything is held for a Tenant: an account, or the network of an unauthenticated client (its /24 and /16;
// for IPv6 its /56 and /48). No owner has more than a quarter of a part. A holder that finds no room waits: the
// owner whose share holds least is next, and a full share delays no other. Addresses of this machine and of
// private networks have only the limit of the /24, because one of them may be a proxy for many clients.
//
// # Pace
//
// A client for which something is held must send or receive 60 KiB in every 30 seconds, or everything that
// is left (DefaultRate). Only the time during which the process waits for the client counts. A slower client is
// ended: 408 over HTTP, 451 over SMTP. If a part is full and a newcomer has waited for a second, the
// slowest client of the share that holds most is ended.
//
// # Connections
//
// A Gate bounds the connections of a listener, and the requests on them: each concurrent request beyond the
// first of a connection counts as a connection (Slot.BeginRequest), and behind a trusted proxy it counts for its
// client. A gate that is more than half full allows a network an eighth of its places and a wider network a
// quarter. A newcomer to a full gate takes the place of a client that has not sent anything yet, else of
// one that is idle between commands: in the largest share first, and otherwise after 10 and 30 seconds.
package intake
