// Package eventexport publishes every event to a stream of NATS JetStream (POSTRIDER_EVENTS_TO): the public
// facts of all accounts, in id order, encoded as JSON like in the event log.
//
// # Terms
//
// The position is the id up to which the stream has every fact. It is stored in one row of event_exports, the
// cursor. A page is a number of facts after it, which one process publishes under a lease
// (runtime/base/worker): the row is its job.
//
// # Guarantees
//
//   - Every fact after the first start with the setting is published at least once, if it is still stored.
//     During an outage of the stream, the position stays, and facts are kept as long as the account keeps its
//     records.
//   - The stream has each fact once. An interrupted page is compared with the end of the stream before it
//     continues, and the stream drops duplicates within ten minutes. Exceptions are facts that Rewind sends
//     again, and a restored database.
//   - Facts of one account are in the stream in id order. There is no order between accounts.
//   - If a process stops or dies, another one continues within seconds, once the death is detected
//     (runtime/work/node).
//   - An unavailable or full stream only delays the export. Accepting and delivering do not depend on it,
//     and no transaction waits for the network.
//   - While the installation is held (runtime/work/node), nothing is published.
//
// # Implementation
//
// Ids are ordered by time but commits are not, so facts are read up to the horizon (runtime/work/bus,
// Horizon), which is half a second in the past, or more while a publishing transaction stays open. A claim
// takes the row if there is a fact between position and horizon. The run reads one page, publishes it and
// waits for the acknowledgements. Settling moves the position under the fencing number. After a failure the
// position moves to the first unacknowledged fact, and the next attempt waits up to 10 seconds.
//
// The claim sets `open`, and settling a whole page clears it. If a claim finds it set, the stream may already
// contain any part of its page.
package eventexport
