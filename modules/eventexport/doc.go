// Package eventexport hands every event to a stream of NATS JetStream (POSTRIDER_EVENTS_TO):
// the public facts of all accounts, in the order of their ids, as the JSON of the event log.
//
// # Words
//
// The position is the id up to which the stream has every fact. It stands in one row of
// event_exports, the cursor. A page is some facts behind it, which one process publishes
// under a lease (runtime/base/worker): the row is its job.
//
// # What is promised
//
//   - Every fact that happens from the first start with the setting on is published at least
//     once, if it is still there: an outage of the stream holds the position, and the facts
//     are kept for as long as the account keeps its records.
//   - The stream has it once. A page that was cut off is compared with the end of the stream
//     before it goes on, and the stream drops what it has had within ten minutes. Exceptions
//     are facts that Rewind sends again, and a restored database.
//   - Facts of one account are in the stream in the order of their ids, between accounts
//     there is no order.
//   - Any process goes on where another has stopped or died: within seconds, when it is seen
//     to be gone (runtime/work/node).
//   - A stream that is away or full costs nothing but its own delay. Accepting and delivering
//     know nothing of the export, and no transaction waits for the network.
//   - While the installation is held (runtime/work/hold), nothing is published.
//
// # How
//
// Ids are ordered by time and commits are not, so facts are read up to the horizon
// (runtime/work/bus, Horizon), which is half a second back and more while a transaction that publishes stays open.
// A claim takes the row if there is a fact between position and horizon; the run reads one
// page, publishes it and waits for the acknowledgements; to settle it is to move the position
// under the fencing number. After a failure the position moves to the first fact that
// was not acknowledged, and the next try waits for up to 10 seconds.
//
// The claim sets `open`, and settling a whole page takes it away. A claim that finds it has
// a page in front of it of which the stream may have any part.
package eventexport
