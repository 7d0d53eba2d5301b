// Package faults injects faults while Postrider runs, and accounts for all mail afterwards. The server under
// test is the real program in its own process, on a real PostgreSQL. The tests kill, stop and freeze either
// of them, cut their connections, and send hundreds of identical requests.
//
// # Terms
//
// All mail goes to the sink: SMTP servers that write (Message-ID, recipient, time) to a file and flush it to
// the disk before their 250. Everything is compared with the sink.
//
//   - lost: accepted (the client got a 2xx) and neither in the sink nor in a final state.
//   - duplicate: more than one line of the sink for a message and recipient.
//   - explained: an attempt for exactly that pair was open at the fault, or was afterwards recorded as
//     unknown. Each allows one more copy.
//
// A message whose client got no response may have been accepted or not. It is not lost in either case, but
// it must not be duplicated either.
//
// # Lengths
//
// `make drill-short` runs the short form of every case, and `make test` runs the short form of six of them.
// `make torture` sets POSTRIDER_TORTURE=long, runs the cases one after the other, and prints their figures as a
// table. `make drill` does so for the cases with several processes (TestDrill…), and for the kills, stops and
// network faults of a single process. POSTRIDER_DRILL_SEED repeats the random choices of the moves of an account.
package faults
