// Package eventlog shows an account what has happened, in order: the facts of the
// last 30 days whose types are public, oldest first, in pages or as a stream that
// goes on.
//
// Words. A position is an event's id, or an id that stands for a moment; reading
// goes on behind it. Pages give the position to go on from even when they are empty.
//
// What is promised.
//   - An event is shown at every reading behind whose position it is: a reader who
//     goes on from where the last answer ended misses none and gets none twice. (How:
//     runtime/work/bus, Horizon. The price is that an event is shown half a second after it
//     has happened, and later while a transaction that publishes stays open.)
//   - A stream shows an event within a second, whether or not anything else wants the
//     events of its account (wake.go).
//   - Only the account's own events are shown. Another's id is a position like any.
//   - A stream ends when its reader takes nothing for a while, when the service
//     drains, and when a caller may have no more of them; the reader connects again and
//     goes on from its position.
//
// The module owns no table: facts are the bus's.
package eventlog
