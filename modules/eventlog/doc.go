// Package eventlog lets an account read its events in order: the facts of the last 30 days whose types are
// public, oldest first, in pages or as a continuous stream.
//
// Terms. A position is an event's id, or an id that represents a point in time; reading continues after it.
// Every page returns the position to continue from, even when the page is empty.
//
// Guarantees:
//   - A reader that continues from the end of the previous page misses no event and receives none twice.
//     See Horizon in runtime/work/bus. In return, an event appears half a second after it happened, or
//     later if a transaction that publishes stays open.
//   - A stream delivers an event within a second, even if nothing else consumes the account's events
//     (wake.go).
//   - Only the account's own events are returned. An event id of another account works as a position, like
//     any other id.
//   - A stream ends when its reader stalls, when the service drains, or when the caller has too many
//     streams. The reader then reconnects and continues from its position.
//
// The module owns no table: facts belong to the bus.
package eventlog
