// Package faults injects faults while Postrider runs, and accounts for all mail
// afterwards. The server under test is the real program in a process of its own, on
// a real PostgreSQL; its tests kill, stop and freeze either of them, cut their
// connections, and send equal requests by the hundred.
//
// # Words
//
// The sink is where all mail goes: SMTP servers that write (Message-ID, recipient,
// time) to a file and flush it to the disk before their 250. It is the truth that
// everything is compared with.
//
//   - lost: accepted (the caller had its 2xx) and neither in the sink nor in a
//     final state.
//   - duplicate: more than one line of the sink for a message and recipient.
//   - explained: an attempt at exactly that pair was open when the fault came, or
//     was afterwards recorded as unknown. There may be one copy more for each.
//
// A message without an answer to its caller may have been accepted or not. It is
// not lost in either case, but it may no more than others be a duplicate.
//
// # Lengths
//
// `make drill-short` runs the short form of every case, and `make test` that of six.
// `make torture` sets POSTRIDER_TORTURE=long, runs one case after the other, and prints
// their figures as a table. `make drill` does so with the cases of several processes
// (TestDrill…), and with the kills, stops and network faults of one.
package faults
