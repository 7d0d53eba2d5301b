// Package intake bounds what strangers and callers make this process hold: HTTP bodies and
// responses, messages that come over SMTP, large contents that are read, and messages that are
// composed. Every door asks the one Budget.
//
// # Parts
//
// A Budget has five parts. Each is a Pool, and none is taken before something has come.
//
//	arriving   64 MiB   memory of contents that are small (the door says how small)
//	spool       2 GiB   files of contents that are large (POSTRIDER_SPOOL_BYTES)
//	working   512 MiB   memory while a large content that has come whole is worked on
//	bodies      4,096   HTTP bodies that arrive at a time
//	reads           8   large contents that are read out of the database at a time
//
// A Content begins in memory. When it outgrows what its door allows there, or its share of
// the memory is used, it goes on in a file. The file loses its name as soon as it is open,
// so that a process that dies leaves nothing behind. The spool also leaves a twentieth of
// its disk free, of a large disk 1 GiB. Bytes maps the file, so that a parser reads it as memory, and the kernel
// can take that memory back.
//
// These are the sizes for a process with 2 GiB of memory. With less, arriving, working and bodies
// shrink in proportion, and so does the number of connections (Budget.Connections).
//
// # Requests and responses
//
// Every HTTP server wraps its handler in Budget.Bound, so no handler is outside the budget. A response
// of more than 8 KB becomes a Content, and leaves once its handler has returned; a handler that flushes
// streams it. Texts that are the same for all clients exist once and are counted nowhere (WriteShared).
//
// # Shares
//
// Everything is held for an Owner: an account, or the network of a stranger (its /24 and
// its /16; in IPv6 its /56 and its /48). No owner has more than a quarter of a part. Who
// finds no room waits: whose share holds least is next, and a full share holds up nobody
// else. Addresses of this machine and of private networks have the bound of the /24 only,
// for many clients can stand behind one of them.
//
// # Pace
//
// A client for which something is held brings or takes 60 KiB in each 30 seconds, or all
// that is left (Floor). Only the time in which the process waits for the client counts. Who
// is slower is ended: 408 over HTTP, 451 over SMTP. When a part is full and a newcomer has
// waited for a second, the slowest client of the share that holds most is ended for it.
//
// # Connections
//
// A Gate bounds the connections of a listener, and the requests on them: each beyond the first of a
// connection counts as a connection (Place.Begin), and behind a trusted proxy for its client. A gate that is more than half full gives
// a network an eighth of its places and a wider one a quarter. A newcomer to a full gate
// gets the place of a client that has said nothing, else of one that waits for a command:
// of the share that has most first, and else after 10 and 30 seconds.
package intake
